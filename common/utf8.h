/* utf8.h - recognizes UTF-8 (RFC 3629). */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stddef.h>

/* Returns the length of the well-formed sequence at `bytes`, of which there are
 * `len` > 0; 0 if there is none. */
size_t utf8_sequence(const char *bytes, size_t len);

#endif
