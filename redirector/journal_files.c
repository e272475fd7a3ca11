#include "redirector/journal_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "redirector/owned_files.h"

/* It is kept for somebody to look at; one that was kept before is gone. */
static int set_aside(int dir, const char *name, const struct error *why,
		     const struct journal_taker *taker, struct error *err)
{
	if (renameat(dir, name, dir, JOURNAL_REJECTED) < 0)
		return error_set_errno(err, "cannot rename it");
	taker->reject(taker->arg, why);
	return 0;
}

static int take_bytes(int dir, const char *name, const void *bytes, size_t size,
		      const struct journal_taker *taker, struct error *err)
{
	struct journal_rest rest;
	struct error why;

	if (journal_read(bytes, size, &rest, &why) < 0) {
		if (why.code != ERROR_NOMEM)
			return set_aside(dir, name, &why, taker, err);
		*err = why;
		return -1;
	}
	if (rest.count || rest.damaged)
		taker->take(taker->arg, &rest);
	journal_rest_release(&rest);
	return unlinkat(dir, name, 0) < 0
		       ? error_set_errno(err, "cannot remove it")
		       : 0;
}

static int take_file(int dir, const char *name, int fd,
		     const struct journal_taker *taker, struct error *err)
{
	struct stat st;
	void *bytes;
	int status;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, "cannot look at it");
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return error_set_errno(err, "cannot map it");
	status = take_bytes(dir, name, bytes, (size_t)st.st_size, taker, err);
	munmap(bytes, (size_t)st.st_size);
	return status;
}

static int take(int dir, const char *name, const struct journal_taker *taker,
		struct error *err)
{
	struct error why;
	int fd = owned_file_take(dir, name, &why), status;

	if (fd < 0 && (why.code == ERROR_BUSY || why.code == ERROR_NOTFOUND))
		return 0;
	if (fd < 0) {
		*err = why;
		return -1;
	}
	status = take_file(dir, name, fd, taker, err);
	close(fd);
	return status;
}

/* One that cannot be taken keeps nobody from the others; the last error is
 * returned. */
static int take_all(int dir, const struct journal_taker *taker,
		    struct error *err)
{
	struct owned_files files;
	int status = 0;

	if (owned_files_list(dir, JOURNAL_PREFIX, &files, err) < 0)
		return -1;
	for (size_t i = 0; i < files.count; i++)
		if (take(dir, files.names[i], taker, err) < 0)
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
