#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "redirector/lookup/record_ring.h"
#include "tests/unit/unit.h"

#define UNIT	    RECORD_RING_ALIGN
#define RECORDS_MAX 64

struct record {
	size_t bytes;
	uint64_t number;
};

static struct record_ring ring_of(size_t units)
{
	struct record_ring ring = {0};

	assert_int_equal(record_ring_init(&ring, units * UNIT), 0);
	return ring;
}

/* Returns NULL if there is no room. */
static struct record *add_record(struct record_ring *ring, size_t units,
				 uint64_t number)
{
	struct record *r = record_ring_place(ring, units * UNIT);

	if (!r)
		return NULL;
	/* The caller may use all of the record's bytes. */
	memset(r, (int)number, units * UNIT);
	*r = (struct record){units * UNIT, number};
	return r;
}

static void drop_oldest_record(struct record_ring *ring, uint64_t number)
{
	struct record *r = record_ring_oldest(ring);

	assert_non_null(r);
	assert_int_equal(r->number, number);
	record_ring_drop_oldest(ring, r->bytes);
}

static void renew_oldest_record(struct record_ring *ring, uint64_t number)
{
	struct record *r = record_ring_oldest(ring);

	assert_non_null(r);
	assert_int_equal(r->number, number);
	r = record_ring_renew_oldest(ring, r->bytes);
	assert_int_equal(r->number, number);
}

static void the_oldest_makes_room(void **state)
{
	struct record_ring ring = ring_of(10);

	(void)state;
	assert_null(record_ring_oldest(&ring));
	assert_non_null(add_record(&ring, 4, 1));
	assert_non_null(add_record(&ring, 4, 2));
	assert_null(add_record(&ring, 4, 3));
	drop_oldest_record(&ring, 1);
	assert_non_null(add_record(&ring, 4, 3));
	drop_oldest_record(&ring, 2);
	drop_oldest_record(&ring, 3);
	assert_null(record_ring_oldest(&ring));
	record_ring_free(&ring);
}

static void a_record_takes_all_there_is(void **state)
{
	struct record_ring ring = ring_of(10);

	(void)state;
	assert_null(add_record(&ring, 11, 1));
	for (uint64_t i = 0; i < 3; i++) {
		assert_non_null(add_record(&ring, 10, i));
		assert_null(add_record(&ring, 1, 9));
		renew_oldest_record(&ring, i);
		drop_oldest_record(&ring, i);
	}
	/* The result does not depend on where the records before have ended. */
	assert_non_null(add_record(&ring, 3, 1));
	assert_non_null(add_record(&ring, 3, 2));
	drop_oldest_record(&ring, 1);
	drop_oldest_record(&ring, 2);
	assert_non_null(add_record(&ring, 10, 3));
	record_ring_free(&ring);
}

static void a_record_that_moves_back_by_a_bit_stays_whole(void **state)
{
	struct record_ring ring = ring_of(10);
	struct record *r;

	(void)state;
	assert_non_null(add_record(&ring, 1, 1));
	assert_non_null(add_record(&ring, 8, 2));
	drop_oldest_record(&ring, 1);
	renew_oldest_record(&ring, 2); /* moves to the start, over itself */
	r = record_ring_oldest(&ring);
	assert_ptr_equal(r, ring.memory);
	assert_int_equal(*((char *)r + 8 * UNIT - 1), 2);
	assert_non_null(add_record(&ring, 2, 3));
	drop_oldest_record(&ring, 2);
	drop_oldest_record(&ring, 3);
	record_ring_free(&ring);
}

static void one_of_no_bytes_has_no_room(void **state)
{
	struct record_ring ring = ring_of(0);

	(void)state;
	assert_null(add_record(&ring, 1, 1));
	assert_null(record_ring_oldest(&ring));
	record_ring_free(&ring);
}

/* A queue that the ring must agree with. */
struct queue {
	struct record_ring ring;
	struct record records[RECORDS_MAX];
	size_t first, count, bytes;
};

static struct record *queue_first(struct queue *q)
{
	return &q->records[q->first % RECORDS_MAX];
}

static struct record queue_pop(struct queue *q)
{
	struct record r = *queue_first(q);

	q->first++;
	q->count--;
	q->bytes -= r.bytes;
	return r;
}

static void queue_push(struct queue *q, struct record r)
{
	q->records[(q->first + q->count++) % RECORDS_MAX] = r;
	q->bytes += r.bytes;
}

static void is_whole(const struct record *got, const struct record *want)
{
	assert_int_equal(got->number, want->number);
	assert_int_equal(got->bytes, want->bytes);
	for (size_t i = sizeof(*got); i < got->bytes; i++)
		assert_int_equal(((const unsigned char *)got)[i],
				 (unsigned char)want->number);
}

static void make_room(struct queue *q, unsigned *seed)
{
	struct record want = queue_pop(q);

	is_whole(record_ring_oldest(&q->ring), &want);
	if (rand_r(seed) % 3) {
		record_ring_drop_oldest(&q->ring, want.bytes);
		return;
	}
	is_whole(record_ring_renew_oldest(&q->ring, want.bytes), &want);
	queue_push(q, want);
}

static void it_agrees_with_a_queue(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (size_t units = 20; units < 60; units++) {
		struct queue q = {.ring = ring_of(units)};

		for (uint64_t i = 0; i < 2000; i++) {
			size_t n = 1 + (size_t)rand_r(&seed) % (units / 8);

			while (!add_record(&q.ring, n, i)) {
				/* A record without room means that each end has
				 * less room than one record. */
				assert_true(q.bytes + 2 * n * UNIT +
						    units / 8 * UNIT >
					    units * UNIT);
				make_room(&q, &seed);
			}
			queue_push(&q, (struct record){n * UNIT, i});
			assert_true(q.bytes <= units * UNIT);
		}
		while (q.count) {
			struct record want = queue_pop(&q);

			is_whole(record_ring_oldest(&q.ring), &want);
			record_ring_drop_oldest(&q.ring, want.bytes);
		}
		assert_null(record_ring_oldest(&q.ring));
		record_ring_free(&q.ring);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_makes_room),
		cmocka_unit_test(a_record_takes_all_there_is),
		cmocka_unit_test(a_record_that_moves_back_by_a_bit_stays_whole),
		cmocka_unit_test(one_of_no_bytes_has_no_room),
		cmocka_unit_test(it_agrees_with_a_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
