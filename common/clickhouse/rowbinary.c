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

static size_t read_digits(const char *digits)
{
	size_t n = 0;

	for (; *digits >= '0' && *digits <= '9'; digits++)
		n = n * 10 + (size_t)(*digits - '0');
	return n;
}

size_t rowbinary_width(const char *type)
{
	switch (type[0]) {
	case 'B': /* Bool */
		return 1;
	case 'D': /* DateTime64 */
		return 8;
	case 'F': /* Float32, FixedString(20) */
		return type[1] == 'l' ? read_digits(type + 5) / 8
				      : read_digits(type + 12);
	case 'I': /* IPv6, Int8 */
		return type[1] == 'P' ? 16 : read_digits(type + 3) / 8;
	case 'U': /* UUID, UInt32 */
		return type[1] == 'U' ? 16 : read_digits(type + 4) / 8;
	default:
		return 0;
	}
}

void rowbinary_default(struct buf *b, const char *type, const char *text)
{
	size_t width = rowbinary_width(type);

	for (size_t i = 0; i < width; i++)
		buf_putc(b, '\0');
	if (!width)
		rowbinary_string(b, text, strlen(text));
}
