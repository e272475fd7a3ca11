/* host_name.h - what this machine is called. */
#ifndef COMMON_HOST_NAME_H
#define COMMON_HOST_NAME_H

#include <stddef.h>

enum {
	HOST_NAME_SIZE = 256 /* for all of it, with its NUL */
};

/* Fills `text`, cutting what is longer than `size`; `fallback` when the system
 * does not tell. */
void host_name(char *text, size_t size, const char *fallback);

#endif
