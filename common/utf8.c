#include "common/utf8.h"

static size_t length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

size_t utf8_sequence(const char *text, size_t len)
{
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	size_t n = length(bytes[0]);

	if (n <= 1)
		return n;
	if (bytes[0] == 0xe0)
		low = 0xa0;
	else if (bytes[0] == 0xed)
		high = 0x9f;
	else if (bytes[0] == 0xf0)
		low = 0x90;
	else if (bytes[0] == 0xf4)
		high = 0x8f;
	if (len < n || bytes[1] < low || bytes[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++) {
		if (bytes[i] < 0x80 || bytes[i] > 0xbf)
			return 0;
	}
	return n;
}

size_t utf8_put(char *to, uint32_t point)
{
	size_t n = point < 0x80	     ? 1
		   : point < 0x800   ? 2
		   : point < 0x10000 ? 3
				     : 4;
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = n; i-- > 1; point >>= 6)
		to[i] = (char)(0x80 | (point & 0x3f));
	to[0] = (char)(first[n] | point);
	return n;
}
