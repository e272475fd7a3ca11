#include "common/http/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/http/address.h"

struct unix_socket {
	struct sockaddr_un address;
	int fd;
	struct stat file; /* as it was created */
	bool linked;
	bool adopted; /* its former owner may continue */
};

const char *unix_socket_path_error(const char *path)
{
	const struct sockaddr_un *un = NULL;

	if (path[0] != '/')
		return "is not an absolute path";
	if (strlen(path) >= sizeof(un->sun_path))
		return "is too long for a socket (107 bytes)";
	return NULL;
}

static int cannot_listen(const struct unix_socket *s, const char *why,
			 struct error *err)
{
	return error_set(err, ERROR_SYSTEM, "cannot listen on %s: %s",
			 s->address.sun_path, why);
}

/* Locks the directory, so that two processes do not replace the file at once;
 * returns a descriptor, or -1. */
static int lock_directory(const struct unix_socket *s)
{
	char path[sizeof(s->address.sun_path)];
	int fd, status;

	memcpy(path, s->address.sun_path, sizeof(path));
	fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	do
		status = flock(fd, LOCK_EX);
	while (status < 0 && errno == EINTR);
	if (status == 0)
		return fd;
	close(fd);
	return -1;
}

/* Connects as a client would.  Returns 0 if a process listens there, else the
 * error. */
static int probe_listener(const struct unix_socket *s)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int sys = 0;

	if (fd < 0)
		return errno;
	if (connect(fd, (const struct sockaddr *)&s->address,
		    sizeof(s->address)) < 0)
		sys = errno;
	close(fd);
	/* EAGAIN: a process listens, and its backlog is full. */
	return sys == EAGAIN ? 0 : sys;
}

/* Removes the file that a process which has ended has left there. */
static int make_place(const struct unix_socket *s, struct error *err)
{
	const char *path = s->address.sun_path;
	struct stat there;
	int sys;

	if (lstat(path, &there) < 0)
		return errno == ENOENT
			       ? 0
			       : error_set_errno(err, "cannot listen on %s",
						 path);
	if (!S_ISSOCK(there.st_mode))
		return cannot_listen(s, "there is a file that is no socket",
				     err);
	sys = probe_listener(s);
	if (sys == 0)
		return cannot_listen(s, "another process listens there", err);
	errno = sys;
	if (sys != ECONNREFUSED || unlink(path) < 0)
		return error_set_errno(err, "cannot listen on %s", path);
	return 0;
}

/* Connecting is refused until the socket listens; by then the file has its
 * mode. */
static int bind_there(struct unix_socket *s, unsigned mode, struct error *err)
{
	const char *path = s->address.sun_path;

	if (bind(s->fd, (const struct sockaddr *)&s->address,
		 sizeof(s->address)) < 0)
		return error_set_errno(err, "cannot listen on %s", path);
	s->linked = lstat(path, &s->file) == 0;
	if (!s->linked || chmod(path, mode) < 0 ||
	    listen(s->fd, SOCKET_BACKLOG) < 0)
		return error_set_errno(err, "cannot listen on %s", path);
	return 0;
}

static int open_there(struct unix_socket *s, unsigned mode, struct error *err)
{
	int lock = lock_directory(s);
	int result;

	if (lock < 0)
		return error_set_errno(err, "cannot listen on %s",
				       s->address.sun_path);
	result = make_place(s, err);
	if (result == 0)
		result = bind_there(s, mode, err);
	close(lock);
	return result;
}

static struct unix_socket *allocate_unix_socket(const char *path, int fd,
						struct error *err)
{
	struct unix_socket *s = calloc(1, sizeof(*s));
	const char *wrong = unix_socket_path_error(path);

	if (!s || wrong) {
		if (fd >= 0)
			close(fd);
		free(s);
		if (wrong)
			error_set(err, ERROR_CONFIG, "'%.200s' %s", path,
				  wrong);
		else
			error_set_nomem(err);
		return NULL;
	}
	s->address.sun_family = AF_UNIX;
	snprintf(s->address.sun_path, sizeof(s->address.sun_path), "%s", path);
	s->fd = fd;
	return s;
}

struct unix_socket *unix_socket_new(const char *path, unsigned mode,
				    struct error *err)
{
	struct unix_socket *s = allocate_unix_socket(path, -1, err);

	if (!s)
		return NULL;
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		error_set_errno(err, "cannot make a socket");
	else if (open_there(s, mode, err) == 0)
		return s;
	unix_socket_free(s);
	return NULL;
}

static int adopt_file(struct unix_socket *s, int mode, struct error *err)
{
	const char *path = s->address.sun_path;

	if (lstat(path, &s->file) < 0 || !S_ISSOCK(s->file.st_mode))
		return error_set(err, ERROR_NOTFOUND,
				 "the socket's file is gone: %s", path);
	if (mode >= 0 && (s->file.st_mode & 0777) != (unsigned)mode &&
	    chmod(path, (unsigned)mode) < 0)
		return error_set_errno(err, "cannot listen on %s", path);
	s->linked = s->adopted = true;
	return 0;
}

struct unix_socket *unix_socket_adopt(const char *path, int mode, int fd,
				      struct error *err)
{
	struct unix_socket *s = allocate_unix_socket(path, fd, err);

	if (s && adopt_file(s, mode, err) == 0)
		return s;
	unix_socket_free(s);
	return NULL;
}

int unix_socket_fd(const struct unix_socket *s)
{
	return s->fd;
}

void unix_socket_unlink(struct unix_socket *s)
{
	const char *path = s->address.sun_path;
	struct stat there;
	int lock;

	if (!s->linked)
		return;
	lock = lock_directory(s);
	if (lstat(path, &there) == 0 && there.st_dev == s->file.st_dev &&
	    there.st_ino == s->file.st_ino)
		unlink(path);
	if (lock >= 0)
		close(lock);
	s->linked = false;
}

void unix_socket_disown(struct unix_socket *s)
{
	s->linked = false;
}

void unix_socket_free(struct unix_socket *s)
{
	if (!s)
		return;
	if (!s->adopted)
		unix_socket_unlink(s);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}
