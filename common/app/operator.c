#include "common/app/operator.h"

#include "common/host_name.h"
#include <ctype.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void operator_name(char ret[OPERATOR_NAME_MAX])
{
	const char *name = getenv("SUDO_USER");
	struct passwd entry, *found = NULL;
	char host[HOST_NAME_SIZE], space[1024], number[24];

	if (!name || !*name) {
		snprintf(number, sizeof(number), "uid%ju",
			 (uintmax_t)geteuid());
		name = number;
		if (!getpwuid_r(geteuid(), &entry, space, sizeof(space),
				&found) &&
		    found)
			name = entry.pw_name;
	}
	host_name(host, sizeof(host), "");
	snprintf(ret, OPERATOR_NAME_MAX, "%.30s@%.32s", name, host);
	for (char *p = ret; *p; p++)
		if (!isgraph((unsigned char)*p))
			*p = '_';
}
