/*
 * cursor.h - a place in an answer as text, from which another request goes on.
 *
 * A cursor is hexadecimal digits: a digest of the question and the place, then
 * the place.  It tells a client nothing and does not work with other questions.
 * It is no secret and grants no right.  A forged cursor only begins elsewhere,
 * so that the place that is read has to be checked.
 */
#ifndef AGGREGATOR_API_CURSOR_H
#define AGGREGATOR_API_CURSOR_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"

#define CURSOR_PLACE_MAX 512

/* Write and read the numbers in the bytes of a place, the most significant byte
 * first. */
unsigned char *cursor_put_number(unsigned char *out, uint64_t number,
				 int bytes);
uint64_t cursor_take_number(const unsigned char **in, int bytes);

/* `question` is text that differs from that of every other question.  If it has
 * failed, so does `out`. */
void cursor_put(struct buf *out, const struct buf *question,
		const unsigned char *place, size_t len);

/* ERROR_INPUT: no cursor, a damaged one or one of another question.
 * ERROR_NOMEM: the question has failed. */
int cursor_parse(const char *text, const struct buf *question,
		 unsigned char ret_place[CURSOR_PLACE_MAX], size_t *ret_len,
		 struct error *err);

#endif
