/*
 * rowbinary.h - writes ClickHouse's RowBinary format into a buffer.  Format:
 * ClickHouse docs, "Formats: RowBinary" (little-endian, no padding).
 */
#ifndef COMMON_CLICKHOUSE_ROWBINARY_H
#define COMMON_CLICKHOUSE_ROWBINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

/* Inline, so that a row's numbers are plain stores.  Byte by byte, so that the
 * order is right on every machine; compilers merge this into one store. */
static inline void rowbinary_uint(struct buf *b, uint64_t v, size_t width)
{
	char bytes[8];

	for (size_t i = 0; i < width; i++)
		bytes[i] = (char)(unsigned char)(v >> (8 * i));
	buf_append(b, bytes, width);
}

static inline void rowbinary_u8(struct buf *b, uint8_t v)
{
	rowbinary_uint(b, v, 1);
}

static inline void rowbinary_u16(struct buf *b, uint16_t v)
{
	rowbinary_uint(b, v, 2);
}

static inline void rowbinary_u32(struct buf *b, uint32_t v)
{
	rowbinary_uint(b, v, 4);
}

static inline void rowbinary_u64(struct buf *b, uint64_t v)
{
	rowbinary_uint(b, v, 8);
}

static inline void rowbinary_i64(struct buf *b, int64_t v)
{
	rowbinary_uint(b, (uint64_t)v, 8);
}

/* Returns a time as a DateTime64(3) can have it: that ends in the year 2299,
 * and a later time becomes its end. */
static inline int64_t rowbinary_bounded_ms(uint64_t ms)
{
	const uint64_t max = UINT64_C(10413791999000);

	return (int64_t)(ms < max ? ms : max);
}

void rowbinary_f32(struct buf *b, float v);
void rowbinary_f64(struct buf *b, double v);
/* The count before an Array's elements or a Map's pairs; LEB128. */
static inline void rowbinary_count(struct buf *b, uint64_t count)
{
	for (; count >= 0x80; count >>= 7)
		buf_putc(b, (char)(unsigned char)(count | 0x80));
	buf_putc(b, (char)count);
}

/* Reads such a count at *at, which moves behind it; returns false at the
 * end. */
static inline bool rowbinary_read_count(const char **at, const char *end,
					uint64_t *ret_count)
{
	uint64_t count = 0;

	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		unsigned char byte = (unsigned char)*(*at)++;

		count |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_count = count;
			return true;
		}
	}
	return false;
}

/* String: LEB128 length, then the bytes. */
static inline void rowbinary_string(struct buf *b, const void *data, size_t len)
{
	rowbinary_count(b, len);
	buf_append(b, data, len);
}

/* FixedString(n), UUID, IPv6: the bytes unchanged. */
static inline void rowbinary_fixed(struct buf *b, const void *data, size_t len)
{
	buf_append(b, data, len);
}

/* Returns the width of a type's values in bytes; 0: they have no fixed one. The
 * type is one that columns.h sends. */
size_t rowbinary_width(const char *type);

/* Appends a type's default: zeros, no elements, or for a text `text`. */
void rowbinary_default(struct buf *b, const char *type, const char *text);

#endif
