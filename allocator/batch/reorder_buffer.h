/*
 * reorder_buffer.h - puts answers into the order of their questions, whatever
 * order they are found in.
 *
 * A question reserves a position.  Its answer is written into the buffer that
 * reorder_buffer_answer names: the output itself when the position is the next
 * in order, otherwise a buffer of the position, in which the answer waits for
 * those before it.
 */
#ifndef ALLOCATOR_BATCH_REORDER_BUFFER_H
#define ALLOCATOR_BATCH_REORDER_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"

struct reorder_buffer;

/* For `capacity` questions at a time. */
struct reorder_buffer *reorder_buffer_new(size_t capacity, struct error *err);
void reorder_buffer_free(struct reorder_buffer *r); /* NULL accepted */

/* Questions whose answer has not gone to the output. */
size_t reorder_buffer_count(const struct reorder_buffer *r);
bool reorder_buffer_is_full(const struct reorder_buffer *r);

/* Bytes of those questions: about what their answers hold, or will. */
size_t reorder_buffer_bytes(const struct reorder_buffer *r);

/* The next position, for a question of so many bytes.  The buffer must not be
 * full. */
uint64_t reorder_buffer_reserve(struct reorder_buffer *r, size_t bytes);

/* Where the answer of a position is appended to.  No other function of the
 * buffer may be called until reorder_buffer_release is called for it. */
struct buf *reorder_buffer_answer(struct reorder_buffer *r, uint64_t position,
				  struct buf *out);

/* The answer of the position is complete: appends to `out` all answers that are
 * next in order by now. */
void reorder_buffer_release(struct reorder_buffer *r, uint64_t position,
			    struct buf *out);

#endif
