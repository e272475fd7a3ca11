#include "common/http/inherited.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/http/address.h"

struct inherited_socket {
	int fd; /* -1: taken */
	char name[INHERITED_NAME_MAX];
};

struct inherited {
	struct inherited_socket *entries;
	size_t count;
};

struct inherited *inherited_new(struct error *err)
{
	struct inherited *in = calloc(1, sizeof(*in));

	if (!in)
		error_set_nomem(err);
	return in;
}

void inherited_free(struct inherited *in)
{
	if (!in)
		return;
	for (size_t i = 0; i < in->count; i++) {
		if (in->entries[i].fd >= 0)
			close(in->entries[i].fd);
	}
	free(in->entries);
	free(in);
}

static int read_socket_option(int fd, int name)
{
	socklen_t len;
	int value = 0;

	len = sizeof(value);
	return getsockopt(fd, SOL_SOCKET, name, &value, &len) < 0 ? -1 : value;
}

static int prepare_socket(int fd, const char *name, struct error *err)
{
	int flags = fcntl(fd, F_GETFL);

	if (read_socket_option(fd, SO_TYPE) != SOCK_STREAM ||
	    read_socket_option(fd, SO_ACCEPTCONN) != 1)
		return error_set(err, ERROR_INPUT,
				 "descriptor %d (%.80s) is no stream socket "
				 "that listens",
				 fd, name);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return error_set_errno(err, "descriptor %d", fd);
	return 0;
}

int inherited_add(struct inherited *in, int fd, const char *name,
		  struct error *err)
{
	struct inherited_socket *more;

	if (prepare_socket(fd, name, err) < 0)
		goto fail;
	more = realloc(in->entries, (in->count + 1) * sizeof(*more));
	if (!more) {
		error_set_nomem(err);
		goto fail;
	}
	in->entries = more;
	in->entries[in->count] = (struct inherited_socket){.fd = fd};
	snprintf(more[in->count].name, sizeof(more->name), "%s", name);
	in->count++;
	return 0;
fail:
	close(fd);
	return -1;
}

size_t inherited_count(const struct inherited *in)
{
	size_t count = 0;

	for (size_t i = 0; i < in->count; i++)
		count += in->entries[i].fd >= 0;
	return count;
}

static bool is_unix(const char *path, const struct sockaddr_storage *bound)
{
	const struct sockaddr_un *un = (const void *)bound;

	return un->sun_family == AF_UNIX &&
	       !strncmp(un->sun_path, path, sizeof(un->sun_path));
}

static int take_socket(struct inherited_socket *e,
		       char ret_name[INHERITED_NAME_MAX])
{
	int fd = e->fd;

	if (ret_name)
		memcpy(ret_name, e->name, INHERITED_NAME_MAX);
	e->fd = -1;
	return fd;
}

/* Takes the first socket for which `is` holds. */
static int take_where(struct inherited *in, const char *where,
		      bool (*is)(const char *where,
				 const struct sockaddr_storage *bound),
		      char ret_name[INHERITED_NAME_MAX])
{
	for (size_t i = 0; i < in->count; i++) {
		struct sockaddr_storage bound = {0};
		socklen_t len = sizeof(bound);
		struct inherited_socket *e = &in->entries[i];

		if (e->fd >= 0 &&
		    getsockname(e->fd, (struct sockaddr *)&bound, &len) == 0 &&
		    is(where, &bound))
			return take_socket(e, ret_name);
	}
	return -1;
}

int inherited_take(struct inherited *in, const char *address)
{
	return take_where(in, address, address_is, NULL);
}

int inherited_take_unix(struct inherited *in, const char *path,
			char ret_name[INHERITED_NAME_MAX])
{
	return take_where(in, path, is_unix, ret_name);
}

int inherited_take_any(struct inherited *in, char ret_name[INHERITED_NAME_MAX])
{
	for (size_t i = 0; i < in->count; i++) {
		if (in->entries[i].fd >= 0)
			return take_socket(&in->entries[i], ret_name);
	}
	return -1;
}
