#include "redirector/counters/counters_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/boot_id.h"
#include "redirector/counters/owned_files.h"

enum {
	TEXT_MAX = 4096, /* a name, including its 0 */
	WRITERS_MAX = 4097,
	ALIGNMENT = 64,
};

static const char magic[8] = "SLcounts";
static const char prefix[] = "counters-";
static const char rejected_name[] = "counters.rejected";

struct counters_header {
	char magic[8];
	uint32_t version, writers, counters, hours;
	uint32_t instance_size, edge_size; /* including their 0 */
	uint64_t boot;
	int64_t started_ms;
	char machine[BOOT_ID_MAX]; /* boot id: memory is lost at a restart */
	uint64_t check;		   /* covers all that is above */
	_Atomic uint64_t sequence;
};

struct counters_file {
	int dir, fd; /* -1: in memory */
	char name[OWNED_NAME_SIZE];
	struct counters_header *header;
	size_t size;
	struct hour_totals *totals;
	struct counters_origin origin;
};

/* --- layout --------------------------------------------------------------- */

static uint64_t header_check(const struct counters_header *h)
{
	return XXH3_64bits(h, offsetof(struct counters_header, check));
}

static size_t totals_at(const struct counters_header *h)
{
	size_t size = sizeof(*h) + h->instance_size + h->edge_size;

	return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t file_size(const struct counters_header *h)
{
	return totals_at(h) + h->writers * sizeof(struct hour_totals);
}

static void set_names(struct counters_file *f)
{
	const char *names = (const char *)(f->header + 1);

	f->origin = (struct counters_origin){
		.instance = names,
		.edge = names + f->header->instance_size,
		.boot = f->header->boot,
		.started_ms = f->header->started_ms,
	};
	f->totals = (struct hour_totals *)((char *)f->header +
					   totals_at(f->header));
}

static struct counters_file *new_file(const char *name, struct error *err)
{
	struct counters_file *f = calloc(1, sizeof(*f));

	if (!f) {
		error_set_nomem(err);
		return NULL;
	}
	f->dir = f->fd = -1;
	snprintf(f->name, sizeof(f->name), "%s", name);
	return f;
}

static int open_folder(struct counters_file *f, const char *dir,
		       struct error *err)
{
	f->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return f->dir < 0 ? error_set_errno(err, "cannot open the folder") : 0;
}

/* --- making --------------------------------------------------------------- */

static int map_contents(struct counters_file *f, struct error *err)
{
	void *at;

	if (owned_file_map(f->fd, f->size, &at, err) < 0)
		return -1;
	f->header = at;
	return 0;
}

static int make_file(struct counters_file *f, struct error *err)
{
	f->fd = owned_file_make(f->dir, f->name, err);
	if (f->fd < 0)
		return -1;
	if (map_contents(f, err) == 0)
		return 0;
	counters_file_remove(f);
	return -1;
}

static int make_memory(struct counters_file *f, struct error *err)
{
	size_t size = (f->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	f->header = aligned_alloc(ALIGNMENT, size);
	if (!f->header)
		return error_set_nomem(err);
	memset(f->header, 0, size);
	return 0;
}

static int make_room(struct counters_file *f, const char *dir,
		     struct error *err)
{
	if (!dir)
		return make_memory(f, err);
	if (open_folder(f, dir, err) == 0 && make_file(f, err) == 0)
		return 0;
	return error_wrap(err, "%s/%s", dir, f->name);
}

/* `h` must be zeroed. */
static int make_header(struct counters_header *h,
		       const struct counters_origin *origin, size_t writers,
		       struct error *err)
{
	size_t instance = strlen(origin->instance) + 1;
	size_t edge = strlen(origin->edge) + 1;

	if (instance > TEXT_MAX || edge > TEXT_MAX || writers > WRITERS_MAX)
		return error_set(err, ERROR_CONFIG,
				 "counters: a name is longer than %d bytes",
				 TEXT_MAX - 1);
	memcpy(h->magic, magic, sizeof(magic));
	h->version = COUNTERS_FILE_VERSION;
	h->writers = (uint32_t)writers;
	h->counters = HOUR_COUNTERS;
	h->hours = HOUR_TABLE_SIZE;
	h->instance_size = (uint32_t)instance;
	h->edge_size = (uint32_t)edge;
	h->boot = origin->boot;
	h->started_ms = origin->started_ms;
	boot_id(h->machine);
	h->check = header_check(h);
	return 0;
}

struct counters_file *counters_file_new(const char *dir,
					const struct counters_origin *origin,
					size_t writers, struct error *err)
{
	char name[OWNED_NAME_SIZE];
	struct counters_header h = {0};
	struct counters_file *f;
	char *names;

	snprintf(name, sizeof(name), "%s%016" PRIx64, prefix, origin->boot);
	f = new_file(name, err);
	if (!f)
		return NULL;
	if (make_header(&h, origin, writers, err) < 0)
		goto fail;
	f->size = file_size(&h);
	if (make_room(f, dir, err) < 0)
		goto fail;
	names = (char *)(f->header + 1);
	memcpy(names, origin->instance, h.instance_size);
	memcpy(names + h.instance_size, origin->edge, h.edge_size);
	/* The header is written last: without it, this is no file of
	 * counters. */
	memcpy(f->header, &h, sizeof(h));
	set_names(f);
	return f;
fail:
	counters_file_free(f);
	return NULL;
}

void counters_file_free(struct counters_file *f)
{
	if (!f)
		return;
	if (f->header && f->fd >= 0)
		munmap(f->header, f->size);
	else
		free(f->header);
	if (f->fd >= 0)
		close(f->fd);
	if (f->dir >= 0)
		close(f->dir);
	free(f);
}

/* --- opening -------------------------------------------------------------- */

static bool is_sane(const struct counters_header *h)
{
	return h->check == header_check(h) && h->boot && h->writers &&
	       h->writers <= WRITERS_MAX && h->instance_size &&
	       h->instance_size <= TEXT_MAX && h->edge_size &&
	       h->edge_size <= TEXT_MAX;
}

static int check_file(const struct counters_file *f, struct error *err)
{
	const struct counters_header *h = f->header;
	const char *names = (const char *)(h + 1);
	char machine[BOOT_ID_MAX];

	if (f->size < sizeof(*h) || memcmp(h->magic, magic, sizeof(magic)) != 0)
		return error_set(err, ERROR_DAMAGED,
				 "this is no file of counters");
	if (h->version != COUNTERS_FILE_VERSION ||
	    h->counters != HOUR_COUNTERS || h->hours != HOUR_TABLE_SIZE)
		return error_set(err, ERROR_CONFIG,
				 "version %u is not known here", h->version);
	if (!is_sane(h) || file_size(h) != f->size ||
	    names[h->instance_size - 1] ||
	    names[h->instance_size + h->edge_size - 1])
		return error_set(err, ERROR_DAMAGED, "it is damaged");
	boot_id(machine);
	if (memcmp(machine, h->machine, sizeof(machine)) != 0)
		return error_set(err, ERROR_LATE,
				 "the machine has started anew since");
	return 0;
}

static int map_file(struct counters_file *f, struct error *err)
{
	struct stat st;

	f->fd = owned_file_take(f->dir, f->name, err);
	if (f->fd < 0)
		return -1;
	if (fstat(f->fd, &st) < 0)
		return error_set_errno(err, "cannot look at it");
	if (st.st_size < (off_t)sizeof(struct counters_header))
		return error_set(err, ERROR_DAMAGED,
				 "this is no file of counters");
	f->size = (size_t)st.st_size;
	return map_contents(f, err);
}

/* The caller holds the file's lock. */
static void set_aside(const struct counters_file *f)
{
	if (renameat(f->dir, f->name, f->dir, rejected_name) < 0)
		unlinkat(f->dir, f->name, 0);
}

static bool is_rejected(const struct error *err)
{
	return err->code == ERROR_CONFIG || err->code == ERROR_DAMAGED ||
	       err->code == ERROR_LATE;
}

struct counters_file *counters_file_open(const char *dir, const char *name,
					 struct error *err)
{
	struct counters_file *f = new_file(name, err);

	if (!f)
		return NULL;
	if (open_folder(f, dir, err) == 0 && map_file(f, err) == 0 &&
	    check_file(f, err) == 0) {
		set_names(f);
		return f;
	}
	if (is_rejected(err))
		set_aside(f);
	error_wrap(err, "%s/%s", dir, name);
	counters_file_free(f);
	return NULL;
}

void counters_file_remove(struct counters_file *f)
{
	if (f->fd >= 0)
		unlinkat(f->dir, f->name, 0);
}

/* --- listing -------------------------------------------------------------- */

/* Returns false if the owner is alive. */
static bool drop_file_if_left(int dir, const char *name)
{
	struct error err;
	int fd = owned_file_take(dir, name, &err);

	if (fd < 0)
		return false;
	unlinkat(dir, name, 0);
	close(fd);
	return true;
}

static size_t drop_oldest(int dir, const struct owned_files *files)
{
	size_t dropped = 0;

	for (size_t i = 0;
	     i < files->count && files->count - dropped > COUNTERS_FILES_MAX;
	     i++)
		dropped += drop_file_if_left(dir, files->names[i]);
	return dropped;
}

int counters_file_list(const char *dir, struct owned_files *ret,
		       size_t *ret_removed, struct error *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int status;

	if (fd < 0)
		return error_set_errno(err, "%s: cannot open it", dir);
	status = owned_files_list(fd, prefix, ret, err);
	if (status == 0)
		*ret_removed = drop_oldest(fd, ret);
	else
		error_wrap(err, "%s", dir);
	close(fd);
	return status;
}

/* --- contents ------------------------------------------------------------- */

const struct counters_origin *
counters_file_origin(const struct counters_file *f)
{
	return &f->origin;
}

struct hour_totals *counters_file_totals(struct counters_file *f, size_t writer)
{
	return &f->totals[writer];
}

void counters_file_add_to(const struct counters_file *f, struct hour_table *to)
{
	for (size_t i = 0; i < f->header->writers; i++)
		hour_totals_add_to(&f->totals[i], to);
}

bool counters_file_is_empty(const struct counters_file *f)
{
	for (size_t i = 0; i < f->header->writers; i++)
		if (!hour_totals_are_empty(&f->totals[i]))
			return false;
	return true;
}

bool counters_file_is_kept(const struct counters_file *f)
{
	return f->fd >= 0;
}

uint64_t counters_file_next_sequence(struct counters_file *f)
{
	return atomic_fetch_add(&f->header->sequence, 1) + 1;
}
