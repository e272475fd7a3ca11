#include "linkstore/range.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

const char *range_format(const struct block_range *range,
			 char text[RANGE_TEXT_MAX])
{
	snprintf(text, RANGE_TEXT_MAX, "%" PRIu64 "-%" PRIu64 ":%" PRIu32,
		 range->first, range->last, range->generation);
	return text;
}

/* Reads digits up to another byte, as range_format writes them; block numbers
 * are far below 2^63. */
static bool read_number(const char **p, const char *end, uint64_t *ret)
{
	const char *start = *p;
	uint64_t value = 0;

	for (; *p < end && isdigit((unsigned char)**p); (*p)++) {
		if (value > UINT64_C(1) << 56)
			return false;
		value = value * 10 + (uint64_t)(**p - '0');
	}
	*ret = value;
	return *p == start + 1 || (*p > start && *start != '0');
}

static bool read_byte(const char **p, const char *end, char byte)
{
	return *p < end && *(*p)++ == byte;
}

bool range_parse(const char *text, size_t len, struct block_range *ret_range)
{
	const char *p = text, *end = text + len;
	uint64_t first, last, generation;

	if (!read_number(&p, end, &first) || !read_byte(&p, end, '-') ||
	    !read_number(&p, end, &last) || !read_byte(&p, end, ':') ||
	    !read_number(&p, end, &generation) || p != end || last < first ||
	    generation > UINT32_MAX)
		return false;
	*ret_range = (struct block_range){first, last, (uint32_t)generation};
	return true;
}
