#include "codespace/snowflake.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#define MS_END (INT64_C(1) << SNOWFLAKE_MS_BITS)
/* Set in `next`: no more ids.  It is above all pairs of ms and sequence. */
#define ENDED (UINT64_C(1) << 63)

/* Times here are ms since the epoch of snowflakes. */
struct snowflake {
	/* The first pair of ms and sequence not yet made, and ENDED.  It only
	 * ever rises. */
	_Atomic uint64_t next;
	_Atomic int64_t until;
	_Atomic int64_t clock; /* the latest at which an id was made */
	int64_t lead;
	unsigned node;
	unsigned sequence_bits;
};

struct snowflake *snowflake_new(unsigned node, unsigned sequence_bits,
				int64_t lead, struct error *err)
{
	struct snowflake *s = NULL;

	if (node >= SNOWFLAKE_NODES)
		error_set(err, ERROR_CONFIG, "node %u is not from 0 to %u",
			  node, SNOWFLAKE_NODES - 1);
	else if (sequence_bits < 1 || sequence_bits > SNOWFLAKE_CODE_SEQUENCE)
		error_set(err, ERROR_CONFIG,
			  "a sequence of %u bits is not from 1 to %d",
			  sequence_bits, SNOWFLAKE_CODE_SEQUENCE);
	else if (lead < 0 || lead >= MS_END)
		error_set(err, ERROR_CONFIG, "a lead of %" PRId64 " ms", lead);
	else if (!(s = calloc(1, sizeof(*s))))
		error_set_nomem(err);
	if (!s)
		return NULL;
	s->node = node;
	s->sequence_bits = sequence_bits;
	s->lead = lead;
	return s;
}

void snowflake_free(struct snowflake *s)
{
	free(s);
}

/* --- allowed times -------------------------------------------------------- */

static int64_t since_epoch(int64_t real_ms)
{
	if (real_ms <= SNOWFLAKE_EPOCH)
		return 0;
	if (real_ms - SNOWFLAKE_EPOCH >= MS_END)
		return MS_END;
	return real_ms - SNOWFLAKE_EPOCH;
}

static void raise_time(_Atomic int64_t *time, int64_t to)
{
	int64_t was = atomic_load_explicit(time, memory_order_relaxed);

	while (was < to && !atomic_compare_exchange_weak_explicit(
				   time, &was, to, memory_order_release,
				   memory_order_relaxed))
		;
}

void snowflake_allow(struct snowflake *s, int64_t from_ms, int64_t until_ms)
{
	uint64_t from = (uint64_t)since_epoch(from_ms) << s->sequence_bits;
	uint64_t next = atomic_load_explicit(&s->next, memory_order_relaxed);

	/* The beginning is set before the end: a thread that sees the new end
	 * finds `next` raised when it takes its id from there. */
	while (next < from &&
	       !atomic_compare_exchange_weak_explicit(&s->next, &next, from,
						      memory_order_release,
						      memory_order_relaxed))
		;
	raise_time(&s->until, since_epoch(until_ms));
}

/* --- ids ------------------------------------------------------------------ */

static int check_clock(struct snowflake *s, int64_t now, struct error *err)
{
	int64_t latest = atomic_load_explicit(&s->clock, memory_order_relaxed);

	if (now < 0 || now >= MS_END)
		return error_set(err, ERROR_SYSTEM,
				 "the clock is not between 2020 and 2089");
	if (latest - now > s->lead)
		return error_set_retriable(
			err, ERROR_UNSAFE,
			"the clock went back by %" PRId64 " ms; more than "
			"%" PRId64 " could lead to ids made twice",
			latest - now, s->lead);
	return 0;
}

static int check_ms(struct snowflake *s, int64_t ms, int64_t now,
		    struct error *err)
{
	int64_t until = atomic_load_explicit(&s->until, memory_order_acquire);

	if (ms >= until)
		return error_set_retriable(
			err, ERROR_BUSY,
			"node %u may make no ids now: what it was allowed "
			"ended %" PRId64 " ms ago",
			s->node, ms - until);
	if (ms - now > s->lead)
		return error_set_retriable(
			err, ERROR_BUSY,
			"the ids of node %u are %" PRId64 " ms ahead of the "
			"clock, at most %" PRId64 " are allowed",
			s->node, ms - now, s->lead);
	return 0;
}

int snowflake_next(struct snowflake *s, int64_t now_ms, uint64_t *ret_id,
		   struct error *err)
{
	unsigned bits = s->sequence_bits;
	int64_t now = now_ms - SNOWFLAKE_EPOCH;
	uint64_t next, mine, ms;

	if (check_clock(s, now, err))
		return -1;
	next = atomic_load_explicit(&s->next, memory_order_acquire);
	do {
		if (next & ENDED)
			return error_set_retriable(
				err, ERROR_BUSY,
				"no ids are made any more: the node was given "
				"up");
		mine = (uint64_t)now << bits;
		if (mine < next)
			mine = next;
		ms = mine >> bits;
		if (check_ms(s, (int64_t)ms, now, err))
			return -1;
	} while (!atomic_compare_exchange_weak_explicit(
		&s->next, &next, mine + 1, memory_order_acq_rel,
		memory_order_acquire));
	raise_time(&s->clock, now);
	*ret_id = ms << (SNOWFLAKE_NODE_BITS + bits) |
		  (uint64_t)s->node << bits |
		  (mine & ((UINT64_C(1) << bits) - 1));
	return 0;
}

int64_t snowflake_end(struct snowflake *s)
{
	/* A thread that has read `next` before this takes no id from it any
	 * more. */
	uint64_t next = atomic_fetch_or_explicit(&s->next, ENDED,
						 memory_order_acq_rel) &
			~ENDED;
	uint64_t first = UINT64_C(1) << s->sequence_bits;

	/* A ms that was begun counts as used. */
	return (int64_t)((next + first - 1) >> s->sequence_bits) +
	       SNOWFLAKE_EPOCH;
}

int64_t snowflake_ms(uint64_t id, unsigned sequence_bits)
{
	return (int64_t)(id >> (SNOWFLAKE_NODE_BITS + sequence_bits)) +
	       SNOWFLAKE_EPOCH;
}
