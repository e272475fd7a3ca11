#include "common/app/fd_store.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/app/notify.h"

#define FIRST_FD 3 /* SD_LISTEN_FDS_START */

/* Returns -1 if the variable is not set, or no number. */
static long number_of(const char *variable)
{
	const char *text = getenv(variable);
	char *end;
	long value;

	if (!text || !*text)
		return -1;
	errno = 0;
	value = strtol(text, &end, 10);
	return errno || *end ? -1 : value;
}

/* Takes the next name of "one:two:three". */
static void next_name(const char **names, char ret[INHERITED_NAME_MAX])
{
	size_t len = strcspn(*names, ":");

	snprintf(ret, INHERITED_NAME_MAX, "%.*s", (int)len, *names);
	*names += len;
	if (**names == ':')
		(*names)++;
}

/* All descriptors are taken over, also those after an unusable one. */
static int take_all(struct inherited *into, long count, struct error *err)
{
	const char *names = getenv("LISTEN_FDNAMES");
	char name[INHERITED_NAME_MAX];
	struct error why;
	int status = 0;

	names = names ? names : "";
	for (long i = 0; i < count; i++) {
		next_name(&names, name);
		if (inherited_add(into, FIRST_FD + (int)i, name, &why) == 0)
			continue;
		if (status == 0)
			error_set(err, ERROR_CONFIG,
				  "from the service manager: %.400s", why.text);
		status = -1;
	}
	return status;
}

int fd_store_take(struct inherited *into, struct error *err)
{
	long count = number_of("LISTEN_FDS");
	int status = 0;

	/* Descriptors passed to a parent process are not ours. */
	if (number_of("LISTEN_PID") == (long)getpid() && count > 0 &&
	    count <= INT_MAX - FIRST_FD)
		status = take_all(into, count, err);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return status;
}

bool fd_store_is_offered(void)
{
	const char *manager = getenv("NOTIFY_SOCKET");

	return manager && *manager && number_of("FDSTORE") > 0;
}

int fd_store_put(const char *name, int fd, struct error *err)
{
	char state[64 + INHERITED_NAME_MAX];

	/* FDPOLL=0: the manager keeps it even after an error or hang-up. */
	snprintf(state, sizeof(state), "FDSTORE=1\nFDPOLL=0\nFDNAME=%s", name);
	return notify_with_fd(state, fd, err);
}

int fd_store_remove(const char *name, struct error *err)
{
	char state[64 + INHERITED_NAME_MAX];

	snprintf(state, sizeof(state), "FDSTOREREMOVE=1\nFDNAME=%s", name);
	return notify(state, err);
}
