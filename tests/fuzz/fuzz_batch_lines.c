/*
 * Any bytes as the body of a batch: in whatever pieces they arrive, the
 * reported lines are those between the LFs, in order and counted, and lines
 * beyond the limit are reported as such.  The first byte chooses the pieces.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/batch/line_splitter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX 16

/* The rest of the body, for the comparison. */
struct expected {
	const char *at, *end;
	uint64_t number;
};

static struct http_slice next_expected(struct expected *e)
{
	size_t left = (size_t)(e->end - e->at);
	const char *lf = left ? memchr(e->at, '\n', left) : NULL;
	struct http_slice line = {e->at, lf ? (size_t)(lf - e->at) : left};

	e->at = lf ? lf + 1 : e->end;
	e->number++;
	return line;
}

static void check_line(struct expected *e, const struct line_splitter *l,
		       enum line_result result, struct http_slice line)
{
	struct http_slice want = next_expected(e);

	assert(l->number == e->number);
	assert(result == (want.len > MAX ? LINE_TOO_LONG : LINE_COMPLETE));
	if (result == LINE_COMPLETE)
		assert(line.len == want.len &&
		       !memcmp(line.data, want.data, line.len));
}

/* The copy has exactly this size, so that a read beyond it is noticed. */
static void feed_piece(struct line_splitter *l, struct expected *e,
		       const uint8_t *data, size_t size)
{
	char *piece = malloc(size);
	struct http_slice rest = {piece, size}, line;
	enum line_result result;

	if (!piece)
		abort();
	memcpy(piece, data, size);
	while (rest.len > 0) {
		result = line_splitter_next(l, &rest, &line);
		if (result == LINE_MORE)
			break;
		check_line(e, l, result, line);
	}
	assert(rest.len == 0);
	free(piece);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line_splitter l = {.max = MAX};
	struct http_slice line;
	size_t step = size ? 1 + data[0] % 40 : 1;
	struct expected e;

	if (size) {
		data++;
		size--;
	}
	e = (struct expected){(const char *)data, (const char *)data + size, 0};
	for (size_t at = 0; at < size; at += step)
		feed_piece(&l, &e, data + at,
			   size - at < step ? size - at : step);
	if (line_splitter_last(&l, &line) == LINE_COMPLETE)
		check_line(&e, &l, LINE_COMPLETE, line);
	assert(e.at == e.end);
	line_splitter_free(&l);
	return 0;
}
