/*
 * record_ring.h - records of any size in one piece of memory that is filled
 * round and round: each lies behind the one before, and the oldest make room
 * (a circular log, as file systems have it).  So neither malloc nor free is
 * called for a record, and no hole is left that the next one does not fit into.
 *
 * The ring does not know what a record is: who uses it says how large the
 * oldest is.  A record keeps its place until it is dropped.  Belongs to one
 * thread.
 */
#ifndef REDIRECTOR_RECORD_RING_H
#define REDIRECTOR_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>

/* A record begins where any type may, if all have such sizes. */
#define RECORD_RING_ALIGN _Alignof(max_align_t)

struct record_ring {
	char *memory;
	size_t size;
	size_t head;  /* where the next record goes */
	size_t tail;  /* the oldest one */
	size_t end;   /* wrapped: of the last record before the start */
	bool wrapped; /* the head is at or before the tail again */
};

static inline size_t record_ring_round(size_t bytes)
{
	return (bytes + RECORD_RING_ALIGN - 1) / RECORD_RING_ALIGN *
	       RECORD_RING_ALIGN;
}

/* Takes `size` bytes, of which the system gives each when it is first used.
 * Returns -1: out of memory.  `ring` is zero before. */
int record_ring_init(struct record_ring *ring, size_t size);
void record_ring_free(struct record_ring *ring);

/* Room for a record behind the newest one, uninitialised; NULL: the oldest
 * ought to be dropped first.  `bytes` is a record_ring_round, and not 0. */
void *record_ring_place(struct record_ring *ring, size_t bytes);

/* NULL: there is none. */
void *record_ring_oldest(const struct record_ring *ring);

/* `bytes` is what it was placed with. */
void record_ring_drop_oldest(struct record_ring *ring, size_t bytes);

/* Moves the oldest behind the newest, for which there always is room: it leaves
 * its own.  Returns where it is now. */
void *record_ring_renew_oldest(struct record_ring *ring, size_t bytes);

#endif
