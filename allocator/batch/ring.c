#include "allocator/batch/ring.h"

#include <stdlib.h>

/* Memory of an answer that had to wait is kept up to this. */
#define WAITING_KEPT 1024

struct place {
	struct buf answer; /* of one that waits */
	size_t bytes;	   /* of the question */
	bool answered;
};

struct ring {
	size_t capacity;
	size_t bytes;
	uint64_t first; /* the oldest place not answered in order */
	uint64_t next;	/* the next to be taken */
	struct place places[];
};

struct ring *ring_new(size_t capacity, struct error *err)
{
	struct ring *r =
		calloc(1, sizeof(*r) + capacity * sizeof(r->places[0]));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->capacity = capacity;
	return r;
}

void ring_free(struct ring *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->capacity; i++)
		buf_free(&r->places[i].answer);
	free(r);
}

size_t ring_count(const struct ring *r)
{
	return (size_t)(r->next - r->first);
}

bool ring_is_full(const struct ring *r)
{
	return ring_count(r) == r->capacity;
}

static struct place *place_at(struct ring *r, uint64_t place)
{
	return &r->places[place % r->capacity];
}

size_t ring_bytes(const struct ring *r)
{
	return r->bytes;
}

uint64_t ring_ask(struct ring *r, size_t bytes)
{
	place_at(r, r->next)->bytes = bytes;
	r->bytes += bytes;
	return r->next++;
}

struct buf *ring_answer(struct ring *r, uint64_t place, struct buf *out)
{
	return place == r->first ? out : &place_at(r, place)->answer;
}

/* The first place is done with. */
static void leave(struct ring *r)
{
	r->bytes -= place_at(r, r->first)->bytes;
	r->first++;
}

static void move(struct place *p, struct buf *out)
{
	buf_append(out, p->answer.data, p->answer.len);
	out->failed |= p->answer.failed;
	if (p->answer.cap > WAITING_KEPT)
		buf_free(&p->answer);
	else
		buf_reset(&p->answer);
	p->answered = false;
}

void ring_answered(struct ring *r, uint64_t place, struct buf *out)
{
	if (place != r->first) {
		place_at(r, place)->answered = true;
		return;
	}
	leave(r);
	while (r->first < r->next && place_at(r, r->first)->answered) {
		move(place_at(r, r->first), out);
		leave(r);
	}
}
