#include "collector/tools/import/log_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
	BUFFER = 256 * 1024
};

struct log_source {
	gzFile file; /* reads unpacked files unchanged */
	uint64_t size;
	uint64_t read; /* bytes, unpacked */
	bool seekable;
};

static int open_file(const char *path, struct stat *st, struct error *err)
{
	bool input = !strcmp(path, "-");
	int fd = input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, st) == 0 && !S_ISDIR(st->st_mode))
		return fd;
	if (fd >= 0 && S_ISDIR(st->st_mode))
		errno = EISDIR;
	error_set_errno(err, "cannot be opened");
	err->code = ERROR_INPUT;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Rejects other packings, which would be read as one long invalid line. */
static int check_packing(int fd, struct error *err)
{
	static const struct {
		const char *magic;
		const char *name;
	} others[] = {
		{"\x28\xb5\x2f\xfd", "zstd"},
		{"\xfd\x37zXZ", "xz"},
		{"BZh", "bzip2"},
		{"PK\x03\x04", "zip"},
	};
	char start[6] = {0};

	if (pread(fd, start, sizeof(start), 0) <= 0)
		return 0; /* a pipe, or an empty file */
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!memcmp(start, others[i].magic, strlen(others[i].magic)))
			return error_set(err, ERROR_INPUT,
					 "packed by %s: unpack it first",
					 others[i].name);
	return 0;
}

struct log_source *log_source_open(const char *path, struct error *err)
{
	struct log_source *s;
	struct stat st;
	int fd = open_file(path, &st, err);

	if (fd < 0)
		return NULL;
	if (check_packing(fd, err) < 0) {
		close(fd);
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (s)
		s->file = gzdopen(fd, "rb");
	if (!s || !s->file) {
		error_set_nomem(err);
		close(fd);
		free(s);
		return NULL;
	}
	gzbuffer(s->file, BUFFER);
	s->seekable = S_ISREG(st.st_mode);
	s->size = s->seekable ? (uint64_t)st.st_size : 0;
	return s;
}

void log_source_close(struct log_source *s)
{
	if (!s)
		return;
	gzclose_r(s->file);
	free(s);
}

ssize_t log_source_read(void *arg, void *to, size_t len, struct error *err)
{
	struct log_source *s = arg;
	int n = gzread(s->file, to, (unsigned)len), code;
	const char *what = gzerror(s->file, &code);

	if (n < 0 && code == Z_ERRNO)
		return error_set_errno(err, "cannot be read");
	if (n < 0)
		return error_set(err, ERROR_INPUT, "%s", what);
	/* The packed file is truncated: zlib returns the data before that
	 * first. */
	if (n == 0 && code == Z_BUF_ERROR)
		return error_set(err, ERROR_INPUT,
				 "the packed file is cut off");
	s->read += (uint64_t)n;
	return n;
}

int log_source_rewind(struct log_source *s, struct error *err)
{
	/* An error later in the packed data does not matter here. */
	gzclearerr(s->file);
	if (gzrewind(s->file) < 0)
		return error_set(err, ERROR_INPUT,
				 "cannot be read twice; name the log with "
				 "--identity");
	s->read = 0;
	return 0;
}

uint64_t log_source_done(const struct log_source *s)
{
	z_off_t at = s->seekable ? gzoffset(s->file) : -1;

	return at >= 0 ? (uint64_t)at : s->read;
}

uint64_t log_source_size(const struct log_source *s)
{
	return s->size;
}
