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

int notify(const char *state, struct error *err)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address;
	socklen_t len;
	ssize_t sent;
	int fd;

	if (!name || !*name)
		return 0;
	len = fill_address(&address, name);
	if (!len)
		return error_set(err, ERROR_SYSTEM,
				 "NOTIFY_SOCKET is no socket: %.100s", name);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set_errno(err, "NOTIFY_SOCKET");
	sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL,
		      (const struct sockaddr *)&address, len);
	if (sent < 0)
		error_set_errno(err, "NOTIFY_SOCKET %.100s", name);
	close(fd);
	return sent < 0 ? -1 : 0;
}

int notify_reloading(struct error *err)
{
	char state[64];

	/* Not rounded down to ms: it would be before the request. */
	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
		 clock_monotonic_ns() / 1000);
	return notify(state, err);
}
