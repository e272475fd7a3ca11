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
#include "common/fds_send.h"

/* Returns the length of the address, or 0 if the name is invalid. */
static socklen_t fill_address(struct sockaddr_un *address, const char *name)
{
	size_t len = strlen(name);

	if ((*name != '/' && *name != '@') || len >= sizeof(address->sun_path))
		return 0;
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(address->sun_path, name, len);
	if (*name == '@')
		address->sun_path[0] = '\0';
	/* In an abstract name each byte counts, also a NUL at its end: it is
	 * left out. */
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

/* Returns -1 if it cannot connect to `name`, with the reason in `err`. */
static int connect_to(const char *name, struct error *err)
{
	struct sockaddr_un address;
	socklen_t len = fill_address(&address, name);
	int to;

	if (!len)
		return error_set(err, ERROR_SYSTEM,
				 "NOTIFY_SOCKET is no socket: %.100s", name);
	to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (to < 0)
		return error_set_errno(err, "NOTIFY_SOCKET");
	if (connect(to, (struct sockaddr *)&address, len) == 0)
		return to;
	error_set_errno(err, "NOTIFY_SOCKET %.100s", name);
	close(to);
	return -1;
}

int notify_with_fd(const char *state, int fd, struct error *err)
{
	const char *name = getenv("NOTIFY_SOCKET");
	ssize_t sent;
	int to;

	if (!name || !*name)
		return 0;
	to = connect_to(name, err);
	if (to < 0)
		return -1;
	sent = fds_send(to, state, strlen(state), &fd, fd < 0 ? 0 : 1);
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

	/* The time is not rounded down to ms: it would be before the
	 * request. */
	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
		 clock_monotonic_ns() / 1000);
	return notify(state, err);
}
