/*
 * snowflake.h - ids that many nodes make without communication.
 *
 *	41 bits  ms since 2020-01-01 UTC (until 2089)
 *	10 bits  node
 *	 N bits  sequence within the ms: 12 for codes, 6 for link ids
 *
 * After Twitter's Snowflake (2010).  Unlike there, a millisecond whose sequence
 * is used up is followed by the next one before the clock gets there, so that
 * no burst has to wait; the lead of ids over the clock is bounded.
 *
 * No id is made twice: the generator only ever counts up, whatever the clock
 * does, and it makes ids only of those ms that it was allowed to.  The caller
 * allows the time for which it has a durable lease for this node: ms from where
 * the last holder's ended, as the timestamp oracles of Percolator (Peng and
 * Dabek, 2010) and TiDB do.  So two processes of one node, a clock set back
 * over a restart and a restart within one millisecond cause no duplicate id.
 *
 * One generator may be used by any number of threads.
 */
#ifndef CODESPACE_SNOWFLAKE_H
#define CODESPACE_SNOWFLAKE_H

#include <stdint.h>

#include "common/error.h"

#define SNOWFLAKE_EPOCH		INT64_C(1577836800000) /* 2020-01-01, UTC */
#define SNOWFLAKE_MS_BITS	41
#define SNOWFLAKE_NODE_BITS	10
#define SNOWFLAKE_NODES		(1u << SNOWFLAKE_NODE_BITS)
#define SNOWFLAKE_CODE_SEQUENCE 12 /* bits: ids that become codes */
#define SNOWFLAKE_LINK_SEQUENCE 6  /* bits: ids of links without a block */
#define SNOWFLAKE_LEAD		INT64_C(1000) /* ms; the usual lead */

struct snowflake;

/*
 * `lead` is the number of ms by which ids may run ahead of the clock, and by
 * which the clock may go back before that is an error.  Returns NULL with
 * ERROR_CONFIG for a node of SNOWFLAKE_NODES or more, a sequence of less than 1
 * or more than 12 bits or a lead below 0.  No id can be made before
 * snowflake_allow.
 */
struct snowflake *snowflake_new(unsigned node, unsigned sequence_bits,
				int64_t lead, struct error *err);
void snowflake_free(struct snowflake *s); /* NULL accepted */

/*
 * Allows ids of from_ms <= ms < until_ms (real ms, as clock_real_ms), and none
 * before from_ms from now on.  Both only ever rise: lower values change
 * nothing.  Callable from any thread.
 */
void snowflake_allow(struct snowflake *s, int64_t from_ms, int64_t until_ms);

/*
 * Makes one id.  `now_ms` is the real clock, read just before: a value older
 * than another thread's by more than the lead counts as a clock that went back.
 * Callable from any thread, without a lock.  Returns -1 with
 *
 *	ERROR_BUSY, retriable	the ids have run ahead by the whole lead, or
 *				no id is allowed at this time: later; or it
 *				was ended
 *	ERROR_UNSAFE, retriable	the clock went back by more than the lead; the
 *				text has the amount: when it has caught up
 *	ERROR_SYSTEM		the clock is before 2020 or after 2089
 */
int snowflake_next(struct snowflake *s, int64_t now_ms, uint64_t *ret_id,
		   struct error *err);

/*
 * Ends it for good: no id is made after this call, on any thread, and
 * snowflake_next returns ERROR_BUSY, retriable.  Returns the first ms (real)
 * from which on no id was made: a lease that is given up may be lowered to it.
 * The clock cannot provide that: it may have gone back.
 */
int64_t snowflake_end(struct snowflake *s);

/* Returns when an id was made, in real ms, with an error of at most the
 * lead. */
int64_t snowflake_ms(uint64_t id, unsigned sequence_bits);

#endif
