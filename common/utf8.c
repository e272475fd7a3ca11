#include "common/utf8.h"

/* Unicode, table 3-7. */
size_t utf8_sequence(const char *bytes, size_t len)
{
	const unsigned char *text = (const unsigned char *)bytes;
	unsigned char low = 0x80, high = 0xbf;
	size_t more;

	if (text[0] < 0x80)
		return 1;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	more = text[0] < 0xe0 ? 1 : text[0] < 0xf0 ? 2 : 3;
	if (text[0] == 0xe0)
		low = 0xa0;
	else if (text[0] == 0xed)
		high = 0x9f;
	else if (text[0] == 0xf0)
		low = 0x90;
	else if (text[0] == 0xf4)
		high = 0x8f;
	if (len <= more || text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i <= more; i++) {
		if (text[i] < 0x80 || text[i] > 0xbf)
			return 0;
	}
	return more + 1;
}
