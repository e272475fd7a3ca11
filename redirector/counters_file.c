#include "redirector/counters_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum {
	MACHINE_MAX = 40,
	TEXT_MAX = 4096, /* a name, with its 0 */
	WRITERS_MAX = 4097,
	ALIGNMENT = 64,
};

static const char magic[8] = "SLcounts";
static const char prefix[] = "counters-";
static const char rejected_name[] = "counters.rejected";

struct file_header {
	char magic[8];
	uint32_t version, writers, counters, hours;
	uint32_t instance_size, edge_size; /* with their 0 */
	uint64_t boot;
	int64_t started_ms;
	char machine[MACHINE_MAX]; /* one start of it; empty: unknown */
	uint64_t check;		   /* of all that is above */
	_Atomic uint64_t sequence;
};

struct counters_file {
	char *dir; /* NULL: in memory */
	char name[COUNTERS_FILE_NAME_MAX];
	struct file_header *header;
	size_t size;
	struct hour_totals *totals;
	struct counters_origin origin;
};

/* --- what it looks like --------------------------------------------------- */

static uint64_t header_check(const struct file_header *h)
{
	return XXH3_64bits(h, offsetof(struct file_header, check));
}

static size_t totals_at(const struct file_header *h)
{
	size_t size = sizeof(*h) + h->instance_size + h->edge_size;

	return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t file_size(const struct file_header *h)
{
	return totals_at(h) + h->writers * sizeof(struct hour_totals);
}

/* Which start of the machine this is: what was in memory then is gone. */
static void read_machine(char ret[MACHINE_MAX])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, ret, MACHINE_MAX - 1);

	memset(ret + (got > 0 ? got : 0), 0,
	       MACHINE_MAX - (size_t)(got > 0 ? got : 0));
	if (fd >= 0)
		close(fd);
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

static const char *file_name(uint64_t boot, char ret[COUNTERS_FILE_NAME_MAX])
{
	snprintf(ret, COUNTERS_FILE_NAME_MAX, "%s%016" PRIx64, prefix, boot);
	return ret;
}

/* --- making --------------------------------------------------------------- */

static int map(struct counters_file *f, int fd, struct error *err)
{
	void *at =
		mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return error_set_errno(err, "cannot map it");
	f->header = at;
	return 0;
}

static int make_file(struct counters_file *f, struct error *err)
{
	int dir = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	int status = -1;

	if (dir < 0)
		return error_set_errno(err, "cannot open the folder");
	fd = openat(dir, f->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	close(dir);
	if (fd < 0)
		return error_set_errno(err, "cannot make it");
	errno = posix_fallocate(fd, 0, (off_t)f->size);
	if (errno)
		error_set_errno(err, "no room for it");
	else
		status = map(f, fd, err);
	close(fd);
	return status;
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
	f->dir = strdup(dir);
	if (!f->dir)
		return error_set_nomem(err);
	if (make_file(f, err) == 0)
		return 0;
	error_wrap(err, "%s/%s", dir, f->name);
	counters_file_remove(f);
	return -1;
}

/* `h` is zeroed. */
static int make_header(struct file_header *h,
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
	read_machine(h->machine);
	h->check = header_check(h);
	return 0;
}

struct counters_file *counters_file_new(const char *dir,
					const struct counters_origin *origin,
					size_t writers, struct error *err)
{
	struct counters_file *f = calloc(1, sizeof(*f));
	struct file_header h = {0};
	char *names;

	if (!f) {
		error_set_nomem(err);
		return NULL;
	}
	file_name(origin->boot, f->name);
	if (make_header(&h, origin, writers, err) < 0)
		goto fail;
	f->size = file_size(&h);
	if (make_room(f, dir, err) < 0)
		goto fail;
	names = (char *)(f->header + 1);
	memcpy(names, origin->instance, h.instance_size);
	memcpy(names + h.instance_size, origin->edge, h.edge_size);
	/* The last: until then it is none. */
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
	if (f->header && f->dir)
		munmap(f->header, f->size);
	else
		free(f->header);
	free(f->dir);
	free(f);
}

/* --- opening -------------------------------------------------------------- */

static bool is_sane(const struct file_header *h)
{
	return h->check == header_check(h) && h->boot && h->writers &&
	       h->writers <= WRITERS_MAX && h->instance_size &&
	       h->instance_size <= TEXT_MAX && h->edge_size &&
	       h->edge_size <= TEXT_MAX;
}

static int check_file(const struct counters_file *f, struct error *err)
{
	const struct file_header *h = f->header;
	const char *names = (const char *)(h + 1);
	char machine[MACHINE_MAX];

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
	read_machine(machine);
	if (memcmp(machine, h->machine, sizeof(machine)) != 0)
		return error_set(err, ERROR_LATE,
				 "the machine has started anew since");
	return 0;
}

static int map_file(struct counters_file *f, struct error *err)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, status = -1;

	snprintf(path, sizeof(path), "%s/%s", f->dir, f->name);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return error_set_errno(err, "cannot open it");
	if (fstat(fd, &st) < 0)
		error_set_errno(err, "cannot look at it");
	else if (st.st_size < (off_t)sizeof(struct file_header))
		error_set(err, ERROR_DAMAGED, "this is no file of counters");
	else {
		f->size = (size_t)st.st_size;
		status = map(f, fd, err);
	}
	close(fd);
	return status;
}

struct counters_file *counters_file_open(const char *dir, const char *name,
					 struct error *err)
{
	struct counters_file *f = calloc(1, sizeof(*f));

	if (f)
		f->dir = strdup(dir);
	if (!f || !f->dir) {
		error_set_nomem(err);
		free(f);
		return NULL;
	}
	snprintf(f->name, sizeof(f->name), "%s", name);
	if (map_file(f, err) == 0 && check_file(f, err) == 0) {
		set_names(f);
		return f;
	}
	error_wrap(err, "%s/%s", dir, name);
	counters_file_free(f);
	return NULL;
}

static void in_folder(const char *dir, const char *name, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/%s", dir, name);
}

void counters_file_set_aside(const char *dir, const char *name)
{
	char from[PATH_MAX], to[PATH_MAX];

	in_folder(dir, name, from);
	in_folder(dir, rejected_name, to);
	if (rename(from, to) < 0)
		unlink(from);
}

void counters_file_remove(struct counters_file *f)
{
	char path[PATH_MAX];

	if (!f->dir)
		return;
	in_folder(f->dir, f->name, path);
	unlink(path);
}

/* --- listing -------------------------------------------------------------- */

struct listed {
	char name[COUNTERS_FILE_NAME_MAX];
	int64_t changed; /* ns */
};

static int compare_listed(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return (x->changed > y->changed) - (x->changed < y->changed);
}

static int list(int dir, DIR *folder, const char *own, struct listed **ret,
		size_t *ret_count, struct error *err)
{
	struct stat st;

	for (struct dirent *e; (e = readdir(folder));) {
		size_t len = strlen(e->d_name);
		struct listed *more;

		if (strncmp(e->d_name, prefix, sizeof(prefix) - 1) != 0 ||
		    len >= COUNTERS_FILE_NAME_MAX ||
		    strcmp(e->d_name, own) == 0 ||
		    fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		more = realloc(*ret, (*ret_count + 1) * sizeof(*more));
		if (!more)
			return error_set_nomem(err);
		*ret = more;
		more += (*ret_count)++;
		memcpy(more->name, e->d_name, len + 1);
		more->changed = (int64_t)st.st_ctim.tv_sec * 1000000000 +
				st.st_ctim.tv_nsec;
	}
	return 0;
}

static int copy_names(const struct listed *items, size_t count,
		      char (**ret)[COUNTERS_FILE_NAME_MAX], struct error *err)
{
	*ret = calloc(count ? count : 1, sizeof(**ret));
	if (!*ret)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++)
		memcpy((*ret)[i], items[i].name, sizeof((*ret)[i]));
	return 0;
}

int counters_file_list(const char *dir, uint64_t own,
		       char (**ret_names)[COUNTERS_FILE_NAME_MAX],
		       size_t *ret_count, size_t *ret_removed,
		       struct error *err)
{
	char own_name[COUNTERS_FILE_NAME_MAX];
	struct listed *items = NULL;
	size_t count = 0, removed = 0;
	DIR *folder = opendir(dir);
	int status;

	if (!folder)
		return error_set_errno(err, "%s: cannot list it", dir);
	status = list(dirfd(folder), folder, file_name(own, own_name), &items,
		      &count, err);
	if (status == 0 && count)
		qsort(items, count, sizeof(*items), compare_listed);
	for (; status == 0 && count - removed > COUNTERS_FILES_MAX; removed++)
		unlinkat(dirfd(folder), items[removed].name, 0);
	closedir(folder);
	if (status == 0)
		status = copy_names(items + removed, count - removed, ret_names,
				    err);
	free(items);
	if (status < 0)
		return -1;
	*ret_count = count - removed;
	*ret_removed = removed;
	return 0;
}

/* --- what it has ---------------------------------------------------------- */

const struct counters_origin *
counters_file_origin(const struct counters_file *f)
{
	return &f->origin;
}

size_t counters_file_writers(const struct counters_file *f)
{
	return f->header->writers;
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

uint64_t counters_file_next_sequence(struct counters_file *f)
{
	return atomic_fetch_add(&f->header->sequence, 1) + 1;
}
