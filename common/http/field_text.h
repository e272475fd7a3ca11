/*
 * field_text.h - finds the end of the text of a header's value.
 *
 * It checks many bytes at a time: 16 with SSE2, which every x86-64 has, 8
 * elsewhere (H.  S.  Warren, Hacker's Delight, 6-1: finding a byte below a
 * bound in a word).
 */
#ifndef COMMON_HTTP_FIELD_TEXT_H
#define COMMON_HTTP_FIELD_TEXT_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* field-vchar, blank, or tab (RFC 9110, 5.5). */
static inline bool field_text_has(char c)
{
	unsigned char byte = (unsigned char)c;

	return byte == '\t' || (byte >= ' ' && byte != 0x7f);
}

/* Checks the eight bytes at `at`: sets one bit for each byte that ends the
 * text; tabs are included.  Bits above the lowest may be wrong. */
static inline uint64_t field_text_ends_8(const char *at)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	uint64_t bytes, del;

	memcpy(&bytes, at, sizeof(bytes));
	bytes = le64toh(bytes);
	del = bytes ^ (ones * 0x7f);
	return (((bytes - ones * ' ') & ~bytes) | ((del - ones) & ~del)) & tops;
}

static inline const char *field_text_end_8(const char *at, const char *end)
{
	uint64_t ends;

	for (; end - at >= 8; at += 8) {
		ends = field_text_ends_8(at);
		if (ends)
			return at + __builtin_ctzll(ends) / 8;
	}
	while (at < end && field_text_has(*at) && *at != '\t')
		at++;
	return at;
}

#ifdef __SSE2__
static inline const char *field_text_end_16(const char *at, const char *end)
{
	/* Signed comparison: flipping the top bits keeps the order of bytes. */
	const __m128i flip = _mm_set1_epi8((char)0x80);
	const __m128i space = _mm_set1_epi8((char)(' ' ^ 0x80));
	const __m128i del = _mm_set1_epi8(0x7f);
	__m128i bytes, low;
	int ends;

	for (; end - at >= 16; at += 16) {
		bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
		low = _mm_cmplt_epi8(_mm_xor_si128(bytes, flip), space);
		ends = _mm_movemask_epi8(
			_mm_or_si128(low, _mm_cmpeq_epi8(bytes, del)));
		if (ends)
			return at + __builtin_ctz((unsigned)ends);
	}
	return field_text_end_8(at, end);
}
#else
#define field_text_end_16 field_text_end_8
#endif

/* Returns the first byte in [at, end) that is not text, or `end`. */
static inline const char *field_text_end(const char *at, const char *end)
{
	for (;;) {
		at = field_text_end_16(at, end);
		if (at == end || *at != '\t')
			return at;
		at++;
	}
}

#endif
