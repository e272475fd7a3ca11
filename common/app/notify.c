#include "common/app/notify.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"

/* Returns the length of the address, or 0: it cannot be one. */
static socklen_t fill_address(struct sockaddr_un *address, const char *name)
{
	size_t len = strlen(name);

	if ((*name != '/' && *name != '@') || len >= sizeof(address->sun_path))
		return 0;
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(address->sun_path, name, len);
	if (*name == '@')
		address->sun_path[0] = '\0';
	/* Of an abstract name each byte counts, a NUL at its end, too. */
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

/* One message, with `fd` unless that is -1. */
static ssize_t send_to(int to, const struct sockaddr_un *address, socklen_t len,
		       const char *state, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct sockaddr_un name = *address;
	struct iovec text = {.iov_len = strlen(state)};
	struct msghdr message = {.msg_name = &name,
				 .msg_namelen = len,
				 .msg_iov = &text,
				 .msg_iovlen = 1};
	struct cmsghdr *c;

	memcpy(&text.iov_base, &state, sizeof(state)); /* which it only reads */
	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(to, &message, MSG_NOSIGNAL);
}

int notify_with_fd(const char *state, int fd, struct error *err)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address;
	socklen_t len;
	ssize_t sent;
	int to;

	if (!name || !*name)
		return 0;
	len = fill_address(&address, name);
	if (!len)
		return error_set(err, ERROR_SYSTEM,
				 "NOTIFY_SOCKET is no socket: %.100s", name);
	to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (to < 0)
		return error_set_errno(err, "NOTIFY_SOCKET");
	sent = send_to(to, &address, len, state, fd);
	if (sent < 0)
		error_set_errno(err, "NOTIFY_SOCKET %.100s", name);
	close(to);
	return sent < 0 ? -1 : 0;
}

int notify(const char *state, struct error *err)
{
	return notify_with_fd(state, -1, err);
}

int notify_reloading(struct error *err)
{
	char state[64];

	/* Not rounded down to ms: it would be before the request. */
	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
		 clock_monotonic_ns() / 1000);
	return notify(state, err);
}
