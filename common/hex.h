/*
 * hex.h - digits of hexadecimal numbers.  sodium_bin2hex writes an array of
 * bytes to a text of fixed size, buf_put_hex one to a buffer.
 */
#ifndef COMMON_HEX_H
#define COMMON_HEX_H

#include <stddef.h>

/* Returns 0 to 15 for a digit in either case, -1 for another byte. */
static inline int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Returns the byte whose two digits the text begins with, or -1. */
static inline int hex_byte(const char *text, size_t len)
{
	int high = len >= 2 ? hex_digit(text[0]) : -1;
	int low = high >= 0 ? hex_digit(text[1]) : -1;

	return low >= 0 ? high * 16 + low : -1;
}

/* Returns the digit of a value from 0 to 15. */
static inline char hex_lower(unsigned value)
{
	return "0123456789abcdef"[value];
}

static inline char hex_upper(unsigned value)
{
	return "0123456789ABCDEF"[value];
}

#endif
