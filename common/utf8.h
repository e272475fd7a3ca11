/* utf8.h - well-formed UTF-8 (RFC 3629). */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed sequence at `text`, or 0 (Unicode, table 3-7).
 * `len` is at least 1. */
size_t utf8_sequence(const char *text, size_t len);

/* Writes a code point that is no surrogate; returns its 1 to 4 bytes. */
size_t utf8_put(char *to, uint32_t point);

#endif
