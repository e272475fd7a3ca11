#include "redirector/events/journal_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "redirector/counters/owned_files.h"

/* A file that this process owns now, and its bytes. */
struct found_file {
	int dir, fd;
	const char *name;
	void *bytes;
	size_t size;
};

/* Keeps the file for an operator; it replaces one that was kept before. */
static int set_aside(const struct found_file *f, const struct error *why,
		     const struct journal_taker *taker, struct error *err)
{
	if (renameat(f->dir, f->name, f->dir, JOURNAL_REJECTED) < 0)
		return error_set_errno(err, "cannot rename it");
	taker->reject(taker->arg, why);
	return 0;
}

/* In a file that stays, the events that were taken are marked as done:
 * otherwise they would be taken again at each search. */
static int take_rest(const struct found_file *f,
		     const struct journal_rest *rest,
		     const struct journal_taker *taker, struct error *err)
{
	size_t taken = 0;
	int status = 0;

	if (rest->count || rest->damaged)
		status = taker->take(taker->arg, rest, &taken, err);
	if (status == 0 && unlinkat(f->dir, f->name, 0) < 0) {
		taken = rest->count;
		status = error_set_errno(err, "cannot remove it");
	}
	if (status < 0)
		journal_mark_done(f->fd, f->bytes, rest->events, taken);
	return status;
}

static int take_bytes(const struct found_file *f,
		      const struct journal_taker *taker, struct error *err)
{
	struct journal_rest rest;
	struct error why;
	int status;

	if (journal_read(f->bytes, f->size, &rest, &why) < 0) {
		if (why.code != ERROR_NOMEM)
			return set_aside(f, &why, taker, err);
		*err = why;
		return -1;
	}
	status = take_rest(f, &rest, taker, err);
	journal_rest_release(&rest);
	return status;
}

static int take_file(struct found_file *f, const struct journal_taker *taker,
		     struct error *err)
{
	struct stat st;
	int status;

	if (fstat(f->fd, &st) < 0)
		return error_set_errno(err, "cannot look at it");
	f->size = (size_t)st.st_size;
	f->bytes = mmap(NULL, f->size, PROT_READ, MAP_SHARED, f->fd, 0);
	if (f->bytes == MAP_FAILED)
		return error_set_errno(err, "cannot map it");
	status = take_bytes(f, taker, err);
	munmap(f->bytes, f->size);
	return status;
}

static int take_journal_if_left(int dir, const char *name,
				const struct journal_taker *taker,
				struct error *err)
{
	struct found_file f = {.dir = dir, .name = name};
	struct error why;
	int status;

	f.fd = owned_file_take(dir, name, &why);
	if (f.fd < 0 && (why.code == ERROR_BUSY || why.code == ERROR_NOTFOUND))
		return 0;
	if (f.fd < 0) {
		*err = why;
		return -1;
	}
	status = take_file(&f, taker, err);
	close(f.fd);
	return status;
}

/* A file that cannot be taken does not prevent taking the others; the last
 * error is returned. */
static int take_all(int dir, const struct journal_taker *taker,
		    struct error *err)
{
	struct owned_files files;
	int status = 0;

	if (owned_files_list(dir, JOURNAL_PREFIX, &files, err) < 0)
		return -1;
	for (size_t i = 0; i < files.count; i++)
		if (take_journal_if_left(dir, files.names[i], taker, err) < 0)
			status = error_wrap(err, "%s", files.names[i]);
	owned_files_release(&files);
	return status;
}

int journal_files_take(const char *dir, const struct journal_taker *taker,
		       struct error *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status;

	if (fd < 0)
		return error_set_errno(err, "%s", dir);
	status = take_all(fd, taker, err);
	close(fd);
	return status < 0 ? error_wrap(err, "%s", dir) : 0;
}
