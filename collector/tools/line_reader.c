#include "collector/tools/line_reader.h"

#include <stdlib.h>
#include <string.h>

enum {
	CHUNK = 256 * 1024
};

struct line_reader {
	line_read_fn *read;
	void *arg;
	size_t line_max;
	char *data; /* size: line_max + 2 CHUNK */
	size_t pos; /* start of the next line */
	size_t end;
	size_t searched;  /* bytes at `pos` known to have no newline */
	uint64_t offset;  /* offset of the byte at `pos` */
	uint64_t dropped; /* bytes beyond the limit in this line */
	bool at_end;
};

struct line_reader *line_reader_new(size_t line_max, line_read_fn *read,
				    void *arg, struct error *err)
{
	struct line_reader *r = calloc(1, sizeof(*r));

	if (r)
		r->data = malloc(line_max + (size_t)2 * CHUNK);
	if (!r || !r->data) {
		error_set_nomem(err);
		free(r);
		return NULL;
	}
	r->read = read;
	r->arg = arg;
	r->line_max = line_max;
	return r;
}

void line_reader_free(struct line_reader *r)
{
	if (!r)
		return;
	free(r->data);
	free(r);
}

int line_reader_fill(struct line_reader *r, struct error *err)
{
	ssize_t n;

	if (r->at_end)
		return 0;
	if (r->pos) {
		memmove(r->data, r->data + r->pos, r->end - r->pos);
		r->end -= r->pos;
		r->pos = 0;
	}
	n = r->read(r->arg, r->data + r->end, CHUNK, err);
	if (n < 0)
		return -1;
	r->end += (size_t)n;
	r->at_end = n == 0;
	return n > 0;
}

/* Keeps the beginning of a line that is too long. */
static void drop_excess(struct line_reader *r)
{
	if (r->end - r->pos <= r->line_max)
		return;
	r->dropped += r->end - r->pos - r->line_max;
	r->end = r->pos + r->line_max;
}

bool line_reader_next(struct line_reader *r, struct line *ret_line)
{
	const char *start = r->data + r->pos;
	size_t there = r->end - r->pos, len;
	const char *newline =
		memchr(start + r->searched, '\n', there - r->searched);

	if (!newline && (!r->at_end || !there)) {
		drop_excess(r);
		r->searched = r->end - r->pos;
		return false;
	}
	len = newline ? (size_t)(newline - start) : there;
	*ret_line = (struct line){
		.text = start,
		.len = len < r->line_max ? len : r->line_max,
		.offset = r->offset,
		.cut = r->dropped || len > r->line_max,
		.unfinished = !newline,
	};
	len += newline ? 1 : 0;
	r->pos += len;
	r->offset += len + r->dropped;
	r->searched = 0;
	r->dropped = 0;
	return true;
}
