/*
 * reorder_buffer.h - puts answers into the order of their questions, in
 * whatever order they arrive.
 *
 * A question reserves a position.  Its answer is written into the buffer that
 * reorder_buffer_answer returns: the output itself if the position is the next
 * in order, otherwise a buffer of the position, in which the answer waits for
 * the earlier ones.
 */
#ifndef ALLOCATOR_BATCH_REORDER_BUFFER_H
#define ALLOCATOR_BATCH_REORDER_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"

struct reorder_buffer;

/* Makes a buffer for `capacity` questions at a time. */
struct reorder_buffer *reorder_buffer_new(size_t capacity, struct error *err);
void reorder_buffer_free(struct reorder_buffer *r); /* NULL accepted */

/* Counts the questions whose answer is not in the output yet. */
size_t reorder_buffer_count(const struct reorder_buffer *r);
bool reorder_buffer_is_full(const struct reorder_buffer *r);

/* Counts the bytes of these questions, about as many as their answers need. */
size_t reorder_buffer_bytes(const struct reorder_buffer *r);

/* Reserves the next position, for a question of this many bytes.  The buffer
 * must not be full. */
uint64_t reorder_buffer_reserve(struct reorder_buffer *r, size_t bytes);

/* Returns the buffer that the answer of the position is appended to.  Call no
 * other function of the reorder buffer before reorder_buffer_release for this
 * position. */
struct buf *reorder_buffer_answer(struct reorder_buffer *r, uint64_t position,
				  struct buf *out);

/* Call it when the answer of the position is complete: appends to `out` all
 * answers that are next in order. */
void reorder_buffer_release(struct reorder_buffer *r, uint64_t position,
			    struct buf *out);

#endif
