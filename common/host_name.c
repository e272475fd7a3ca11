#include "common/host_name.h"

#include <stdio.h>
#include <unistd.h>

void host_name(char *text, size_t size, const char *fallback)
{
	char name[HOST_NAME_SIZE] = "";

	if (gethostname(name, sizeof(name) - 1) < 0 || !name[0])
		snprintf(text, size, "%s", fallback);
	else
		snprintf(text, size, "%.*s", (int)size - 1, name);
}
