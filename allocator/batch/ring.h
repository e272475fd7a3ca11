/*
 * ring.h - answers in the order of their questions, whatever order they are
 * found in.
 *
 * A question takes a place; its answer is written into the buffer that the ring
 * names: the output itself when it is next in order, otherwise one of its own
 * that waits for those before it.
 */
#ifndef ALLOCATOR_BATCH_RING_H
#define ALLOCATOR_BATCH_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"

struct ring;

/* For `capacity` questions at a time. */
struct ring *ring_new(size_t capacity, struct error *err);
void ring_free(struct ring *r); /* NULL accepted */

/* Questions whose answer has not gone to the output. */
size_t ring_count(const struct ring *r);
bool ring_is_full(const struct ring *r);

/* Bytes of those questions: about what their answers hold, or will. */
size_t ring_bytes(const struct ring *r);

/* The next place, for a question of so many bytes.  The ring must not be full.
 */
uint64_t ring_ask(struct ring *r, size_t bytes);

/* Where the answer of a place goes; to be appended to and then told with
 * ring_answered, nothing of the ring being called in between. */
struct buf *ring_answer(struct ring *r, uint64_t place, struct buf *out);

/* Appends to `out` what is next in order by now. */
void ring_answered(struct ring *r, uint64_t place, struct buf *out);

#endif
