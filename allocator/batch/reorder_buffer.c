#include "allocator/batch/reorder_buffer.h"

#include <stdlib.h>

/* Bytes of memory that an entry keeps for its next answer. */
#define ENTRY_KEPT 1024

struct buffered_answer {
	struct buf answer; /* waits for earlier answers */
	size_t bytes;	   /* size of the question */
	bool complete;
};

struct reorder_buffer {
	size_t capacity;
	size_t bytes;
	uint64_t first; /* the oldest reserved position */
	uint64_t next;	/* the next to be reserved */
	struct buffered_answer entries[];
};

struct reorder_buffer *reorder_buffer_new(size_t capacity, struct error *err)
{
	struct reorder_buffer *r =
		calloc(1, sizeof(*r) + capacity * sizeof(r->entries[0]));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->capacity = capacity;
	return r;
}

void reorder_buffer_free(struct reorder_buffer *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->capacity; i++)
		buf_free(&r->entries[i].answer);
	free(r);
}

size_t reorder_buffer_count(const struct reorder_buffer *r)
{
	return (size_t)(r->next - r->first);
}

bool reorder_buffer_is_full(const struct reorder_buffer *r)
{
	return reorder_buffer_count(r) == r->capacity;
}

static struct buffered_answer *entry_at(struct reorder_buffer *r,
					uint64_t position)
{
	return &r->entries[position % r->capacity];
}

size_t reorder_buffer_bytes(const struct reorder_buffer *r)
{
	return r->bytes;
}

uint64_t reorder_buffer_reserve(struct reorder_buffer *r, size_t bytes)
{
	entry_at(r, r->next)->bytes = bytes;
	r->bytes += bytes;
	return r->next++;
}

struct buf *reorder_buffer_answer(struct reorder_buffer *r, uint64_t position,
				  struct buf *out)
{
	return position == r->first ? out : &entry_at(r, position)->answer;
}

/* Call it when the answer of the first position is in the output. */
static void drop_first(struct reorder_buffer *r)
{
	r->bytes -= entry_at(r, r->first)->bytes;
	r->first++;
}

static void move_answer(struct buffered_answer *p, struct buf *out)
{
	buf_append(out, p->answer.data, p->answer.len);
	out->failed |= p->answer.failed;
	if (p->answer.cap > ENTRY_KEPT)
		buf_free(&p->answer);
	else
		buf_reset(&p->answer);
	p->complete = false;
}

void reorder_buffer_release(struct reorder_buffer *r, uint64_t position,
			    struct buf *out)
{
	if (position != r->first) {
		entry_at(r, position)->complete = true;
		return;
	}
	drop_first(r);
	while (r->first < r->next && entry_at(r, r->first)->complete) {
		move_answer(entry_at(r, r->first), out);
		drop_first(r);
	}
}
