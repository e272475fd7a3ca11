#include "redirector/lookup/record_ring.h"

#include <stdlib.h>
#include <string.h>

/*
 * The ring has two shapes ('=' is used by records):
 *
 *     |    tail====head          |     the next record goes behind the head, or
 *                                      to the start if it does not fit there
 *     |====head    tail====end   |     wrapped: it goes between head and tail
 */

int record_ring_init(struct record_ring *ring, size_t size)
{
	if (!size)
		return 0;
	ring->memory = malloc(size);
	if (!ring->memory)
		return -1;
	ring->size = size;
	return 0;
}

void record_ring_free(struct record_ring *ring)
{
	free(ring->memory);
}

void *record_ring_place(struct record_ring *ring, size_t bytes)
{
	char *record;

	if (!ring->wrapped && ring->size - ring->head < bytes) {
		if (ring->tail < bytes)
			return NULL;
		ring->end = ring->head;
		ring->head = 0;
		ring->wrapped = true;
	}
	if (ring->wrapped && ring->tail - ring->head < bytes)
		return NULL;
	record = ring->memory + ring->head;
	ring->head += bytes;
	return record;
}

void *record_ring_oldest(const struct record_ring *ring)
{
	if (!ring->wrapped && ring->head == ring->tail)
		return NULL;
	return ring->memory + ring->tail;
}

void record_ring_drop_oldest(struct record_ring *ring, size_t bytes)
{
	ring->tail += bytes;
	if (ring->wrapped && ring->tail == ring->end) {
		ring->tail = 0;
		ring->wrapped = false;
	}
	if (!ring->wrapped && ring->tail == ring->head)
		ring->head = ring->tail = 0;
}

void *record_ring_renew_oldest(struct record_ring *ring, size_t bytes)
{
	const char *from = ring->memory + ring->tail;

	record_ring_drop_oldest(ring, bytes);
	/* The new place may overlap the old one. */
	return memmove(record_ring_place(ring, bytes), from, bytes);
}
