#include "allocator/batch/line_splitter.h"

#include <string.h>

/* Lines longer than this (bytes) are rare, so their memory is freed. */
#define PART_KEPT 8192

void line_splitter_free(struct line_splitter *l)
{
	buf_free(&l->part);
}

static void forget_part(struct line_splitter *l)
{
	l->taken = false;
	if (l->part.cap > PART_KEPT)
		buf_free(&l->part);
	else
		buf_reset(&l->part);
}

/* Cuts the first line, with its LF, or all bytes off `data`.  Returns whether
 * there was an LF. */
static bool cut_line_piece(struct http_slice *data,
			   struct http_slice *ret_piece)
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

/* Counts a line that cannot be returned, and skips its rest. */
static enum line_result reject_line(struct line_splitter *l, bool ended,
				    enum line_result why)
{
	forget_part(l);
	l->skipping = !ended;
	l->number++;
	return why;
}

void line_splitter_skip(struct line_splitter *l, struct http_slice *data)
{
	struct http_slice piece;

	if (l->skipping)
		l->skipping = !cut_line_piece(data, &piece);
}

enum line_result line_splitter_next(struct line_splitter *l,
				    struct http_slice *data,
				    struct http_slice *ret_line)
{
	struct http_slice piece;
	bool ended;

	if (l->taken)
		forget_part(l);
	line_splitter_skip(l, data);
	if (l->skipping)
		return LINE_MORE;
	ended = cut_line_piece(data, &piece);
	if (l->part.len + piece.len > l->max)
		return reject_line(l, ended, LINE_TOO_LONG);
	if (ended && l->part.len == 0) {
		l->number++;
		*ret_line = piece;
		return LINE_COMPLETE;
	}
	buf_append(&l->part, piece.data, piece.len);
	if (l->part.failed)
		return reject_line(l, ended, LINE_NO_MEMORY);
	return ended ? line_splitter_last(l, ret_line) : LINE_MORE;
}

enum line_result line_splitter_last(struct line_splitter *l,
				    struct http_slice *ret_line)
{
	if (l->taken || l->part.len == 0)
		return LINE_MORE;
	l->taken = true;
	l->number++;
	*ret_line = (struct http_slice){l->part.data, l->part.len};
	return LINE_COMPLETE;
}
