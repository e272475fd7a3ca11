#include "common/clickhouse/rowbinary.h"

#include <string.h>

void rowbinary_f32(struct buf *b, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	rowbinary_u32(b, bits);
}

void rowbinary_f64(struct buf *b, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	rowbinary_u64(b, bits);
}
