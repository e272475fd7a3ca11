/*
 * hex.h - digits of hexadecimal numbers.
 */
#ifndef COMMON_HEX_H
#define COMMON_HEX_H

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

#endif
