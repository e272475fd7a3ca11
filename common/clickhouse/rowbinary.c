#include "common/clickhouse/rowbinary.h"

#include <string.h>

/* Byte by byte, so that the order is right on every machine; compilers turn
 * this into one store. */
static void put(struct buf *b, uint64_t v, size_t width)
{
	char bytes[8];

	for (size_t i = 0; i < width; i++)
		bytes[i] = (char)(unsigned char)(v >> (8 * i));
	buf_append(b, bytes, width);
}

void rowbinary_u8(struct buf *b, uint8_t v)
{
	put(b, v, 1);
}

void rowbinary_u16(struct buf *b, uint16_t v)
{
	put(b, v, 2);
}

void rowbinary_u32(struct buf *b, uint32_t v)
{
	put(b, v, 4);
}

void rowbinary_u64(struct buf *b, uint64_t v)
{
	put(b, v, 8);
}

void rowbinary_i64(struct buf *b, int64_t v)
{
	put(b, (uint64_t)v, 8);
}

void rowbinary_f32(struct buf *b, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put(b, bits, sizeof(bits));
}

void rowbinary_f64(struct buf *b, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put(b, bits, sizeof(bits));
}

void rowbinary_count(struct buf *b, uint64_t count)
{
	for (; count >= 0x80; count >>= 7)
		buf_putc(b, (char)(unsigned char)(count | 0x80));
	buf_putc(b, (char)count);
}

void rowbinary_string(struct buf *b, const void *data, size_t len)
{
	rowbinary_count(b, len);
	buf_append(b, data, len);
}

void rowbinary_fixed(struct buf *b, const void *data, size_t len)
{
	buf_append(b, data, len);
}
