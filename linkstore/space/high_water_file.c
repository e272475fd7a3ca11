#include "linkstore/space/high_water_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codespace/link_id.h"
#include "common/read_file.h"

/* The original name of the file, so that files of that time can be read. */
#define MAGIC "shortloop seen 1"

/* The low bits of an entry are a block number, as in a link id; the other bits
 * are its checksum. */
#define NUMBER_BITS 42
#define NUMBER_MAX  ((UINT64_C(1) << NUMBER_BITS) - 1)

enum {
	ENTRY_CURSOR,
	ENTRY_MOVES,
	ENTRY_GENERATION,
	ENTRY_NUMBERS
};

struct high_water_entry {
	char name[24];
	uint32_t length, base, block_size, unused;
	/* Cursor, moves and generation; 0: none.  Files that are older than the
	 * last two have zeros there. */
	_Atomic uint64_t numbers[ENTRY_NUMBERS];
};

/* A page of entries by space number.  Space numbers begin at 1: entry 0 names
 * the file. */
struct high_water_page {
	struct high_water_entry entries[LINK_SPACE_MAX + 2];
};
_Static_assert(sizeof(struct high_water_page) == 4096, "the file is one page");

struct high_water_file {
	struct high_water_page *page;
};

/* --- entries -------------------------------------------------------------- */

/* The finalizer of SplitMix64: David Stafford's mix 13. */
static uint64_t mix_bits(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Adds the checksum.  It is never 0, so that an entry of block 0 is not empty,
 * and differs for each space and number, so that a value cannot pass for
 * another's. */
static uint64_t add_checksum(uint64_t value, unsigned number, unsigned which)
{
	uint64_t place = number | (uint64_t)which << 8;
	uint64_t check = mix_bits(value ^ place << NUMBER_BITS) >> NUMBER_BITS;

	return value | (check ? check : 1) << NUMBER_BITS;
}

static struct high_water_entry *entry_of(const struct high_water_file *f,
					 const struct link_space *space)
{
	return &f->page->entries[space->number];
}

static uint64_t number_of(const struct high_water_entry *entry, unsigned which)
{
	return atomic_load(&entry->numbers[which]) & NUMBER_MAX;
}

struct high_water high_water_file_get(const struct high_water_file *f,
				      const struct link_space *space)
{
	const struct high_water_entry *entry = entry_of(f, space);

	return (struct high_water){
		.cursor = number_of(entry, ENTRY_CURSOR),
		.moves = number_of(entry, ENTRY_MOVES),
		.generation = (uint32_t)number_of(entry, ENTRY_GENERATION),
	};
}

static void raise_number(struct high_water_entry *entry,
			 const struct link_space *space, unsigned which,
			 uint64_t value)
{
	_Atomic uint64_t *at = &entry->numbers[which];
	uint64_t old = atomic_load(at);

	while ((old & NUMBER_MAX) < value && value <= NUMBER_MAX &&
	       !atomic_compare_exchange_weak(
		       at, &old, add_checksum(value, space->number, which)))
		;
}

void high_water_file_note(struct high_water_file *f,
			  const struct link_space *space,
			  const struct high_water *high_water)
{
	struct high_water_entry *entry = entry_of(f, space);

	raise_number(entry, space, ENTRY_CURSOR, high_water->cursor);
	raise_number(entry, space, ENTRY_MOVES, high_water->moves);
	raise_number(entry, space, ENTRY_GENERATION, high_water->generation);
}

/* --- open ----------------------------------------------------------------- */

/* Makes an empty file under another name first, so that no process ever sees an
 * incomplete file. */
static int create_empty_file(const char *path, struct error *err)
{
	struct high_water_page page = {0};
	char *fresh = NULL;
	int fd = -1, status = -1;

	if (asprintf(&fresh, "%s.%d", path, (int)getpid()) < 0)
		return error_set_nomem(err);
	snprintf(page.entries[0].name, sizeof(page.entries[0].name), MAGIC);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, &page, sizeof(page)) != sizeof(page) ||
	    fsync(fd) || (link(fresh, path) && errno != EEXIST))
		error_set_errno(err, "cannot create %s", path);
	else
		status = 0;
	if (fd >= 0) {
		close(fd);
		unlink(fresh);
	}
	free(fresh);
	return status;
}

static int open_or_create(const char *path, struct error *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT) {
		if (create_empty_file(path, err))
			return -1;
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	if (fd < 0)
		error_set_errno(err, "cannot open %s", path);
	return fd;
}

static int map_page(struct high_water_file *f, int fd, int flags,
		    const char *path, struct error *err)
{
	struct stat st;
	void *page;

	if (fd < 0)
		flags |= MAP_ANONYMOUS;
	if (fd >= 0 && fstat(fd, &st))
		return error_set_errno(err, "%s", path);
	if (fd >= 0 && st.st_size != (off_t)sizeof(struct high_water_page))
		return error_set(err, ERROR_CONFIG,
				 "%s is not a high-water file: it has "
				 "%jd bytes",
				 path, (intmax_t)st.st_size);
	page = mmap(NULL, sizeof(struct high_water_page),
		    PROT_READ | PROT_WRITE, flags, fd, 0);
	if (page == MAP_FAILED)
		return error_set_errno(err, "cannot map %s", path ? path : "");
	f->page = page;
	if (fd >= 0 &&
	    strncmp(f->page->entries[0].name, MAGIC, sizeof(MAGIC)) != 0)
		return error_set(err, ERROR_CONFIG,
				 "%s is not a high-water file", path);
	return 0;
}

static bool is_of(const struct high_water_entry *entry,
		  const struct link_space *space)
{
	return !strncmp(entry->name, space->name, sizeof(entry->name)) &&
	       entry->length == space->length && entry->base == space->base &&
	       entry->block_size == space->block_size;
}

static bool is_whole(const struct high_water_entry *entry,
		     const struct link_space *space)
{
	uint64_t value;

	for (unsigned i = 0; i < ENTRY_NUMBERS; i++) {
		value = atomic_load(&entry->numbers[i]);
		if (value &&
		    value != add_checksum(value & NUMBER_MAX, space->number, i))
			return false;
	}
	return true;
}

static int check_entry(struct high_water_file *f, const char *path,
		       const struct link_space *space, struct error *err)
{
	struct high_water_entry *entry = entry_of(f, space);

	if (!entry->name[0]) {
		entry->length = space->length;
		entry->base = space->base;
		entry->block_size = space->block_size;
		snprintf(entry->name, sizeof(entry->name), "%s", space->name);
	}
	if (!is_of(entry, space))
		return error_set(
			err, ERROR_CONFIG,
			"%s was written for a space %.23s of number "
			"%u, length %" PRIu32 ", %" PRIu32
			" symbols and blocks of %" PRIu32 ", which %s is not",
			path, entry->name, space->number, entry->length,
			entry->base, entry->block_size, space->name);
	if (!is_whole(entry, space))
		return error_set(err, ERROR_UNSAFE,
				 "%s: the entry of space %s is damaged: move "
				 "the file away once it is certain that Redis "
				 "has forgotten nothing",
				 path, space->name);
	return 0;
}

/* Holds a lock, so that processes that start together write new entries one
 * after the other. */
static int check_entries(struct high_water_file *f, int fd, const char *path,
			 const struct linkstore *store, struct error *err)
{
	const struct link_space *space;
	int status = 0;

	if (fd >= 0 && flock(fd, LOCK_EX))
		return error_set_errno(err, "cannot lock %s", path);
	for (size_t i = 0; i < linkstore_space_count(store); i++) {
		space = linkstore_space(store, i);
		if (status == 0 && link_space_has_blocks(space))
			status = check_entry(f, path, space, err);
	}
	if (fd >= 0)
		flock(fd, LOCK_UN);
	return status;
}

struct high_water_file *high_water_file_open(const char *path,
					     const struct linkstore *store,
					     struct error *err)
{
	struct high_water_file *f = calloc(1, sizeof(*f));
	int fd = -1, status = -1;

	if (!f) {
		error_set_nomem(err);
		return NULL;
	}
	if (path)
		fd = open_or_create(path, err);
	if ((!path || fd >= 0) && map_page(f, fd, MAP_SHARED, path, err) == 0)
		status = check_entries(f, fd, path, store, err);
	if (fd >= 0)
		close(fd);
	if (status == 0)
		return f;
	high_water_file_free(f);
	return NULL;
}

/* Checks the folder that a missing file would be in. */
static int check_folder(const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *folder =
		slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
	int status = 0;

	if (!folder)
		return error_set_nomem(err);
	if (access(folder, F_OK))
		status = error_set_errno(err, "cannot create %s", path);
	free(folder);
	return status;
}

int high_water_file_check(const char *path, const struct linkstore *store,
			  struct error *err)
{
	struct high_water_file f = {0};
	struct error why = {0};
	int fd, status = -1;

	if (!path)
		return 0;
	fd = plain_file_open(path, &why);
	if (fd < 0 && why.sys == ENOENT)
		return check_folder(path, err);
	if (fd < 0)
		return error_set(err, ERROR_SYSTEM, "cannot open %s: %s", path,
				 why.text);
	/* Writes to new entries stay private. */
	if (map_page(&f, fd, MAP_PRIVATE, path, err) == 0)
		status = check_entries(&f, fd, path, store, err);
	if (f.page)
		munmap(f.page, sizeof(*f.page));
	close(fd);
	return status;
}

void high_water_file_free(struct high_water_file *f)
{
	if (!f)
		return;
	if (f->page)
		munmap(f->page, sizeof(*f->page));
	free(f);
}
