/* safe_text.h - makes bytes of unknown origin printable, for a terminal. */
#ifndef COMMON_SAFE_TEXT_H
#define COMMON_SAFE_TEXT_H

#include <stddef.h>

/*
 * Writes `len` bytes as printable ASCII: other bytes become \xNN and a
 * backslash \\.  A text that does not fit into `size` (at least 8) is cut and
 * ends in "...".  Returns `to`.
 */
const char *safe_text(char *to, size_t size, const void *bytes, size_t len);

#endif
