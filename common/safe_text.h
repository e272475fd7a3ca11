/* safe_text.h - bytes of unknown origin, for a terminal. */
#ifndef COMMON_SAFE_TEXT_H
#define COMMON_SAFE_TEXT_H

#include <stddef.h>

/*
 * Writes `len` bytes as printable ASCII: what is none becomes \xNN and a
 * backslash \\.  What does not fit into `size` (at least 8) is cut and ends in
 * "...".  Returns `to`.
 */
const char *safe_text(char *to, size_t size, const void *bytes, size_t len);

#endif
