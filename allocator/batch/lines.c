#include "allocator/batch/lines.h"

#include <string.h>

/* A line this long is rare: its memory is not kept. */
#define PART_KEPT 8192

void lines_free(struct lines *l)
{
	buf_free(&l->part);
}

static void forget_part(struct lines *l)
{
	l->taken = false;
	if (l->part.cap > PART_KEPT)
		buf_free(&l->part);
	else
		buf_reset(&l->part);
}

/* Cuts off the bytes up to LF, or all; LF itself goes too.  True: it was there.
 */
static bool cut(struct http_slice *data, struct http_slice *ret_piece)
{
	const char *end =
		data->len > 0 ? memchr(data->data, '\n', data->len) : NULL;
	size_t len = end ? (size_t)(end - data->data) : data->len;

	*ret_piece = (struct http_slice){data->data, len};
	if (end)
		len++;
	if (len > 0)
		*data = (struct http_slice){data->data + len, data->len - len};
	return end != NULL;
}

/* Tells a line that cannot be had. */
static enum lines_result give_up(struct lines *l, bool ended,
				 enum lines_result why)
{
	forget_part(l);
	l->skipping = !ended;
	l->number++;
	return why;
}

enum lines_result lines_next(struct lines *l, struct http_slice *data,
			     struct http_slice *ret_line)
{
	struct http_slice piece;
	bool ended;

	if (l->taken)
		forget_part(l);
	if (l->skipping && !cut(data, &piece))
		return LINES_MORE;
	l->skipping = false;
	ended = cut(data, &piece);
	if (l->part.len + piece.len > l->max)
		return give_up(l, ended, LINES_TOO_LONG);
	if (ended && l->part.len == 0) {
		l->number++;
		*ret_line = piece;
		return LINES_LINE;
	}
	buf_append(&l->part, piece.data, piece.len);
	if (l->part.failed)
		return give_up(l, ended, LINES_NO_MEMORY);
	return ended ? lines_last(l, ret_line) : LINES_MORE;
}

enum lines_result lines_last(struct lines *l, struct http_slice *ret_line)
{
	if (l->taken || l->part.len == 0)
		return LINES_MORE;
	l->taken = true;
	l->number++;
	*ret_line = (struct http_slice){l->part.data, l->part.len};
	return LINES_LINE;
}
