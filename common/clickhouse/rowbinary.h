/*
 * rowbinary.h - writing ClickHouse's RowBinary format into a buffer.
 * Format: ClickHouse docs, "Formats: RowBinary" (little-endian, no padding).
 */
#ifndef COMMON_CLICKHOUSE_ROWBINARY_H
#define COMMON_CLICKHOUSE_ROWBINARY_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

void rowbinary_u8(struct buf *b, uint8_t v);
void rowbinary_u16(struct buf *b, uint16_t v);
void rowbinary_u32(struct buf *b, uint32_t v);
void rowbinary_u64(struct buf *b, uint64_t v);
void rowbinary_i64(struct buf *b, int64_t v);
void rowbinary_f32(struct buf *b, float v);
void rowbinary_f64(struct buf *b, double v);
/* String: LEB128 length, then the bytes. */
void rowbinary_string(struct buf *b, const void *data, size_t len);
/* FixedString(n), UUID, IPv6: the bytes as they are. */
void rowbinary_fixed(struct buf *b, const void *data, size_t len);
/* The count before an Array's elements or a Map's pairs. */
void rowbinary_count(struct buf *b, uint64_t count);

#endif
