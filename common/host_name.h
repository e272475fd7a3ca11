/* host_name.h - the name of this machine. */
#ifndef COMMON_HOST_NAME_H
#define COMMON_HOST_NAME_H

#include <stddef.h>

enum {
	HOST_NAME_SIZE = 256 /* room for any name, including its NUL */
};

/* Fills `text`, cutting a name longer than `size`; uses `fallback` if the
 * system has no name. */
void host_name(char *text, size_t size, const char *fallback);

#endif
