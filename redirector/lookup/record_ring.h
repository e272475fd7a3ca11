/*
 * record_ring.h - records of any size in one piece of memory that is used as a
 * ring: each record lies behind the one before, and the oldest are dropped to
 * make room (a circular log, as in file systems).  So a record needs neither
 * malloc nor free, and there are no holes too small for the next one.
 *
 * The ring does not know the records: its user passes the size of the oldest.
 * A record keeps its place until it is dropped.  Belongs to one thread.
 */
#ifndef REDIRECTOR_LOOKUP_RECORD_RING_H
#define REDIRECTOR_LOOKUP_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>

/* A record is aligned for any type, if all records have such sizes. */
#define RECORD_RING_ALIGN _Alignof(max_align_t)

struct record_ring {
	char *memory;
	size_t size;
	size_t head;  /* place of the next record */
	size_t tail;  /* place of the oldest one */
	size_t end;   /* wrapped: end of the last record */
	bool wrapped; /* the head is at or before the tail again */
};

static inline size_t record_ring_round(size_t bytes)
{
	return (bytes + RECORD_RING_ALIGN - 1) / RECORD_RING_ALIGN *
	       RECORD_RING_ALIGN;
}

/* Allocates `size` bytes, which the system provides when they are first used.
 * Returns -1: out of memory.  `ring` must be zeroed. */
int record_ring_init(struct record_ring *ring, size_t size);
void record_ring_free(struct record_ring *ring);

/* Returns the place of a new record behind the newest one, uninitialised; NULL:
 * the oldest has to be dropped first.  `bytes` is a result of
 * record_ring_round, and not 0. */
void *record_ring_place(struct record_ring *ring, size_t bytes);

/* Returns NULL if the ring is empty. */
void *record_ring_oldest(const struct record_ring *ring);

/* `bytes` is the size with which it was placed. */
void record_ring_drop_oldest(struct record_ring *ring, size_t bytes);

/* Moves the oldest record behind the newest, which always succeeds, since its
 * own place becomes free.  Returns its new place. */
void *record_ring_renew_oldest(struct record_ring *ring, size_t bytes);

#endif
