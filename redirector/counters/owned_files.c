#include "redirector/counters/owned_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	/* A new file is locked at once.  An empty one that is older (in
	 * seconds) was left by an owner that ended. */
	LEFT_AFTER = 60,
	/* A try fails only if another process takes the new file for one that
	 * was left, because the clocks of the two differ. */
	TRIES = 100,
};

/* --- one file ------------------------------------------------------------- */

/* True if the open file still has that name.  If it was renamed, or removed and
 * made again, it belongs to another process. */
static bool is_named(int dir, const char *name, const struct stat *open)
{
	struct stat named;

	return fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       named.st_dev == open->st_dev && named.st_ino == open->st_ino;
}

static int lock_file(int fd, int how)
{
	int status;

	do {
		status = flock(fd, how);
	} while (status < 0 && errno == EINTR);
	return status;
}

/* Returns 1 if another process removed the file before it was locked. */
static int try_to_make(int dir, const char *name, int *ret, struct error *err)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct stat st;
	int status = 1;

	if (fd < 0)
		return error_set_errno(err, "cannot make it");
	if (lock_file(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0) {
		status = error_set_errno(err, "cannot lock it");
		unlinkat(dir, name, 0);
	} else if (is_named(dir, name, &st)) {
		*ret = fd;
		return 0;
	}
	close(fd);
	return status;
}

int owned_file_make(int dir, const char *name, struct error *err)
{
	int fd = -1, status = 1;

	for (int i = 0; status == 1 && i < TRIES; i++)
		status = try_to_make(dir, name, &fd, err);
	if (status == 1)
		return error_set(err, ERROR_SYSTEM,
				 "another process removes it each time");
	return status < 0 ? -1 : fd;
}

static bool is_left(const struct stat *st)
{
	return time(NULL) - st->st_mtime > LEFT_AFTER;
}

/* Checks a file that was just locked.  If it is empty, its owner ended before
 * it wrote to it, or made it a moment ago and waits for the lock. */
static int check_taken(int dir, const char *name, int fd, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, "cannot look at it");
	if (!is_named(dir, name, &st))
		return error_set(err, ERROR_NOTFOUND, "it is gone");
	if (st.st_size > 0)
		return 0;
	if (is_left(&st))
		unlinkat(dir, name, 0);
	return error_set(err, ERROR_NOTFOUND, "it is empty");
}

static int cannot_open(struct error *err)
{
	return errno == ENOENT ? error_set(err, ERROR_NOTFOUND, "it is gone")
			       : error_set_errno(err, "cannot open it");
}

static int cannot_lock(struct error *err)
{
	return errno == EWOULDBLOCK
		       ? error_set(err, ERROR_BUSY, "its process lives")
		       : error_set_errno(err, "cannot lock it");
}

int owned_file_take(int dir, const char *name, struct error *err)
{
	int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	int status;

	if (fd < 0)
		return cannot_open(err);
	status = lock_file(fd, LOCK_EX | LOCK_NB) < 0
			 ? cannot_lock(err)
			 : check_taken(dir, name, fd, err);
	if (status == 0)
		return fd;
	close(fd);
	return -1;
}

int owned_file_map(int fd, size_t size, void **ret, struct error *err)
{
	void *at;

	errno = posix_fallocate(fd, 0, (off_t)size);
	if (errno)
		return error_set_errno(err, "no room for it");
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return error_set_errno(err, "cannot map it");
	*ret = at;
	return 0;
}

/* --- all files ------------------------------------------------------------ */

struct listed {
	char name[OWNED_NAME_SIZE];
	int64_t changed; /* ns */
};

struct listing {
	struct listed *items;
	size_t count;
};

static int compare_listed(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return (x->changed > y->changed) - (x->changed < y->changed);
}

static int add_to_listing(struct listing *l, const char *name,
			  const struct stat *st, struct error *err)
{
	struct listed *more = realloc(l->items, (l->count + 1) * sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	l->items = more;
	more += l->count++;
	memcpy(more->name, name, strlen(name) + 1);
	more->changed =
		(int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;
	return 0;
}

static int list_folder(DIR *folder, const char *prefix, struct listing *l,
		       struct error *err)
{
	struct stat st;

	for (struct dirent *e; (e = readdir(folder));) {
		if (strncmp(e->d_name, prefix, strlen(prefix)) != 0 ||
		    strlen(e->d_name) >= OWNED_NAME_SIZE ||
		    fstatat(dirfd(folder), e->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (add_to_listing(l, e->d_name, &st, err) < 0)
			return -1;
	}
	return 0;
}

static int copy_names(const struct listing *l, struct owned_files *ret,
		      struct error *err)
{
	char(*names)[OWNED_NAME_SIZE] = calloc(l->count + 1, sizeof(*names));

	if (!names)
		return error_set_nomem(err);
	for (size_t i = 0; i < l->count; i++)
		memcpy(names[i], l->items[i].name, sizeof(names[i]));
	*ret = (struct owned_files){names, l->count};
	return 0;
}

static DIR *open_folder(int dir)
{
	int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = own < 0 ? NULL : fdopendir(own);

	if (!folder && own >= 0)
		close(own);
	return folder;
}

int owned_files_list(int dir, const char *prefix, struct owned_files *ret,
		     struct error *err)
{
	DIR *folder = open_folder(dir);
	struct listing l = {0};
	int status;

	if (!folder)
		return error_set_errno(err, "cannot list the folder");
	status = list_folder(folder, prefix, &l, err);
	closedir(folder);
	if (status == 0 && l.count)
		qsort(l.items, l.count, sizeof(*l.items), compare_listed);
	if (status == 0)
		status = copy_names(&l, ret, err);
	free(l.items);
	return status;
}

void owned_files_release(struct owned_files *files)
{
	free(files->names);
	*files = (struct owned_files){0};
}
