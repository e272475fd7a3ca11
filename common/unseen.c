#include "common/unseen.h"

#include "common/utf8.h"

struct unseen_range {
	uint32_t first, last;
	enum unseen kind;
};

/* Ascending. */
static const struct unseen_range ranges[] = {
	{0x00, 0x1f, UNSEEN_CONTROL},
	{0x20, 0x20, UNSEEN_BLANK},
	{0x7f, 0x9f, UNSEEN_CONTROL},
	{0xa0, 0xa0, UNSEEN_BLANK},
	{0xad, 0xad, UNSEEN_FORMAT},
	{0x34f, 0x34f, UNSEEN_FORMAT},
	{0x61c, 0x61c, UNSEEN_FORMAT},
	{0x115f, 0x1160, UNSEEN_FORMAT},
	{0x1680, 0x1680, UNSEEN_BLANK},
	{0x17b4, 0x17b5, UNSEEN_FORMAT},
	{0x180b, 0x180d, UNSEEN_JOINER},
	{0x180e, 0x180e, UNSEEN_FORMAT},
	{0x180f, 0x180f, UNSEEN_JOINER},
	{0x2000, 0x200a, UNSEEN_BLANK},
	{0x200b, 0x200b, UNSEEN_FORMAT},
	{0x200c, 0x200d, UNSEEN_JOINER},
	{0x200e, 0x200f, UNSEEN_FORMAT},
	{0x2028, 0x2029, UNSEEN_CONTROL},
	{0x202a, 0x202e, UNSEEN_FORMAT},
	{0x202f, 0x202f, UNSEEN_BLANK},
	{0x205f, 0x205f, UNSEEN_BLANK},
	{0x2060, 0x206f, UNSEEN_FORMAT},
	{0x3000, 0x3000, UNSEEN_BLANK},
	{0x3164, 0x3164, UNSEEN_FORMAT},
	{0xfe00, 0xfe0f, UNSEEN_JOINER},
	{0xfeff, 0xfeff, UNSEEN_FORMAT},
	{0xffa0, 0xffa0, UNSEEN_FORMAT},
	{0xfff0, 0xfffb, UNSEEN_FORMAT}, /* includes interlinear annotations */
	{0x1bca0, 0x1bca3, UNSEEN_FORMAT},
	{0x1d173, 0x1d17a, UNSEEN_FORMAT},
	{0xe0000, 0xe001f, UNSEEN_FORMAT},
	{0xe0020, 0xe007f, UNSEEN_JOINER},
	{0xe0080, 0xe00ff, UNSEEN_FORMAT},
	{0xe0100, 0xe01ef, UNSEEN_JOINER},
	{0xe01f0, 0xe0fff, UNSEEN_FORMAT},
};

enum unseen unseen_kind(uint32_t code_point)
{
	size_t low = 0, high = sizeof(ranges) / sizeof(ranges[0]), middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (code_point > ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == sizeof(ranges) / sizeof(ranges[0]) ||
	    code_point < ranges[low].first)
		return UNSEEN_NONE;
	return ranges[low].kind;
}

/* Decodes a well-formed sequence. */
static uint32_t code_point_of(const char *text, size_t bytes)
{
	static const unsigned char marks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = (unsigned char)text[0] & marks[bytes];

	for (size_t i = 1; i < bytes; i++)
		c = c << 6 | ((unsigned char)text[i] & 0x3f);
	return c;
}

static enum unseen kind_at(const char *text, size_t bytes)
{
	return bytes ? unseen_kind(code_point_of(text, bytes)) : UNSEEN_INVALID;
}

size_t unseen_find(const char *text, size_t len, unsigned kinds,
		   enum unseen *ret_kind)
{
	enum unseen kind;
	size_t bytes;

	for (size_t i = 0; i < len; i += bytes ? bytes : 1) {
		bytes = 1;
		if (text[i] > ' ' && text[i] < 0x7f)
			continue;
		bytes = utf8_sequence(text + i, len - i);
		kind = kind_at(text + i, bytes);
		if ((kind & kinds) == 0)
			continue;
		*ret_kind = kind;
		return i;
	}
	*ret_kind = UNSEEN_NONE;
	return len;
}
