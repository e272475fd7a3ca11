#include "common/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int set_system_error(struct error *err)
{
	int sys = errno;

	error_set(err, ERROR_SYSTEM, "%s", strerror(sys));
	err->sys = sys;
	return -1;
}

static const char *kind_of(mode_t mode)
{
	if (S_ISDIR(mode))
		return "a directory";
	if (S_ISFIFO(mode))
		return "a FIFO";
	if (S_ISSOCK(mode))
		return "a socket";
	return "a device";
}

static int check_kind(const struct stat *st, struct error *err)
{
	if (S_ISREG(st->st_mode))
		return 0;
	return error_set(err, ERROR_SYSTEM, "it is %s, not a plain file",
			 kind_of(st->st_mode));
}

int plain_file_open(const char *path, struct error *err)
{
	struct stat st;
	int fd;

	/* The kind is checked before opening, too: opening may trigger a
	 * device, and fails for a socket. */
	if (stat(path, &st) < 0)
		return set_system_error(err);
	if (check_kind(&st, err) < 0)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return set_system_error(err);
	if (fstat(fd, &st) < 0)
		set_system_error(err);
	else if (check_kind(&st, err) == 0)
		return fd;
	close(fd);
	return -1;
}

FILE *plain_file_stream(const char *path, struct error *err)
{
	int fd = plain_file_open(path, err);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file) {
		set_system_error(err);
		close(fd);
	}
	return file;
}

int read_file(const char *path, size_t most, struct buf *out, struct error *err)
{
	int fd = plain_file_open(path, err), status = 0;
	char bytes[4096];
	ssize_t n = 0;

	if (fd < 0)
		return -1;
	while (out->len <= most && (n = read(fd, bytes, sizeof(bytes))) > 0)
		buf_append(out, bytes, (size_t)n);
	if (n < 0)
		status = set_system_error(err);
	close(fd);
	return status;
}
