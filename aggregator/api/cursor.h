/*
 * cursor.h - a place in an answer as text, by which another request goes on.
 *
 * Hexadecimal digits of a digest, of the question and the place, and of the
 * place: a cursor says nothing to a client and is of no use to other questions.
 * It is no secret and gives no right; who makes one up only begins elsewhere,
 * so that what is read has to be looked at.
 */
#ifndef AGGREGATOR_API_CURSOR_H
#define AGGREGATOR_API_CURSOR_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"

#define CURSOR_PLACE_MAX 512

/* Writes and reads the bytes of a place: numbers, the most significant byte
 * first. */
unsigned char *cursor_put_number(unsigned char *out, uint64_t number,
				 int bytes);
uint64_t cursor_take_number(const unsigned char **in, int bytes);

/* `question` is text that differs from that of every other question.  If it has
 * failed, so does `out`. */
void cursor_put(struct buf *out, const struct buf *question,
		const unsigned char *place, size_t len);

/* ERROR_INPUT: no cursor, or a damaged one or of another question.
 * ERROR_NOMEM: the question has failed. */
int cursor_parse(const char *text, const struct buf *question,
		 unsigned char ret_place[CURSOR_PLACE_MAX], size_t *ret_len,
		 struct error *err);

#endif
