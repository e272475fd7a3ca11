#include "aggregator/zone/tzif.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_LEN  44
#define TYPE_LEN    6
#define CHANGES_MAX 4096
#define TYPES_MAX   256

/* One of the file's blocks: the header's counts, and the positions of its
 * parts. */
struct block {
	char version;
	uint32_t isut, isstd, leap, times, types, chars;
	size_t time_size; /* bytes of a time: 4 or 8 */
	const unsigned char *body;
	const unsigned char *end; /* the byte after the block */
};

static uint32_t read_u32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static int64_t read_instant(const unsigned char *p, size_t size)
{
	if (size == 4)
		return (int32_t)read_u32(p);
	return (int64_t)((uint64_t)read_u32(p) << 32 | read_u32(p + 4));
}

static size_t block_size(const struct block *b)
{
	return b->times * (b->time_size + 1) + b->types * (size_t)TYPE_LEN +
	       b->chars + b->leap * (b->time_size + 4) + b->isstd + b->isut;
}

static bool read_block(struct block *b, const unsigned char *p, size_t len,
		       size_t time_size)
{
	if (len < HEADER_LEN || memcmp(p, "TZif", 4) != 0)
		return false;
	*b = (struct block){
		.version = (char)p[4],
		.isut = read_u32(p + 20),
		.isstd = read_u32(p + 24),
		.leap = read_u32(p + 28),
		.times = read_u32(p + 32),
		.types = read_u32(p + 36),
		.chars = read_u32(p + 40),
		.time_size = time_size,
		.body = p + HEADER_LEN,
	};
	if (b->times > CHANGES_MAX || b->types > TYPES_MAX || !b->types ||
	    b->chars > 4096 || b->leap > 4096 || b->isstd > TYPES_MAX ||
	    b->isut > TYPES_MAX || block_size(b) > len - HEADER_LEN)
		return false;
	b->end = b->body + block_size(b);
	return true;
}

static bool read_footer(struct tzif *tzif, const unsigned char *p, size_t len)
{
	const unsigned char *newline;
	size_t n;

	if (len < 2 || *p != '\n')
		return false;
	newline = memchr(p + 1, '\n', len - 1);
	if (!newline)
		return false;
	n = (size_t)(newline - p) - 1;
	if (n >= sizeof(tzif->footer))
		return false;
	memcpy(tzif->footer, p + 1, n);
	tzif->footer[n] = '\0';
	return true;
}

static bool read_changes(struct tzif *tzif, const struct block *b)
{
	const unsigned char *kinds = b->body + b->times * b->time_size;
	const unsigned char *types = kinds + b->times;
	int64_t last = INT64_MIN;

	tzif->first_offset = (int32_t)read_u32(types);
	for (uint32_t i = 0; i < b->times; i++) {
		int64_t at =
			read_instant(b->body + i * b->time_size, b->time_size);

		if (kinds[i] >= b->types || (i && at <= last))
			return false;
		last = at;
		tzif->changes[i].at = at;
		tzif->changes[i].offset =
			(int32_t)read_u32(types + (size_t)kinds[i] * TYPE_LEN);
	}
	tzif->count = b->times;
	return true;
}

/* Version 1 has one block of 32-bit times; later versions repeat it with 64-bit
 * times, and end with the footer. */
static bool read_file(struct tzif *tzif, struct block *b,
		      const unsigned char *data, size_t len)
{
	const unsigned char *end = data + len;

	if (!read_block(b, data, len, 4))
		return false;
	if (b->version == '\0')
		return true;
	return read_block(b, b->end, (size_t)(end - b->end), 8) &&
	       read_footer(tzif, b->end, (size_t)(end - b->end));
}

int tzif_parse(struct tzif *tzif, const void *data, size_t len,
	       struct error *err)
{
	struct block b;

	*tzif = (struct tzif){0};
	if (!read_file(tzif, &b, data, len) || b.leap)
		goto bad;
	tzif->changes = calloc(b.times + 1, sizeof(*tzif->changes));
	if (!tzif->changes)
		return error_set_nomem(err);
	if (read_changes(tzif, &b))
		return 0;
bad:
	tzif_release(tzif);
	return error_set(err, ERROR_INPUT,
			 "not a TZif file without leap seconds");
}

void tzif_release(struct tzif *tzif)
{
	free(tzif->changes);
	*tzif = (struct tzif){0};
}
