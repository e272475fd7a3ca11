/*
 * insertion.h - an insert that is in its table once, whatever fails on its way.
 *
 * The proof is in the rows.  A request that was answered is believed; after
 * anything else - an error, no answer, another owner before, a server that was
 * started anew - it may have been carried out, in whole, by the days of its
 * rows, or not at all, and it may still be under way.  Then
 *
 *   1. the query is ended, by its id, wherever it runs;
 *   2. what of its rows is there is counted.  All: done.  None: all are sent
 *      under the same token.  Some: the caller makes the insert anew, without
 *      those;
 *   3. what was answered is counted, too: a server writes its token down before
 *      it stores the rows, and may have failed in between.  What is missing
 *      although it was answered goes out under another token.
 *
 * So rows that are there are never sent, and a request that arrives after it
 * was given up meets its token: it was used by whoever sent the rows since. For
 * a row to be stored twice such a late request has to come after its token was
 * forgotten; docs/collector.md, "What is left".
 *
 * An insert may carry rows of several partitions: it has one query id and one
 * token, and each partition its own intent.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_INSERTION_H
#define COLLECTOR_EXACTLY_ONCE_INSERTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/collector_metrics.h"
#include "collector/exactly_once/plan.h"
#include "collector/exactly_once/ranges.h"
#include "collector/exactly_once/sink.h"
#include "collector/exactly_once/stored.h"
#include "common/error.h"

/* The rows of one partition. */
struct insertion_part {
	struct stored_key key;
	/* In ingest_progress: the offsets that the row tells of. */
	uint64_t first, last;
	/* Else those of the rows. */
	const struct ranges *rows;
	int64_t since_ms; /* none has an earlier append_time */
};

struct insertion {
	enum sink_table table;
	const char *name; /* follows from its intents; its token, too */
	const struct insertion_part *parts;
	size_t part_count;
	const void *rows; /* RowBinary */
	size_t len;
	uint64_t count;			   /* of them */
	struct collector_metrics *metrics; /* or NULL */
};

/* What is known of it; its owner keeps it from try to try. */
struct insertion_state {
	bool doubt;	 /* it may have been sent, by whomever */
	bool answered;	 /* under the present token, and not counted since */
	unsigned number; /* of the token: 0 is the name itself */
	/* Nothing is sent later than `kept_ms` after it was known that nobody
	 * else has: the token may be forgotten.  CLOCK_BOOTTIME, which counts a
	 * machine's sleep. */
	int64_t known_ms;
	int64_t kept_ms;
};

/*
 * On failure it is to be called again, with the same state; ERROR_LATE: its
 * owner has to ask first what is stored, and make it anew.
 */
int insertion_run(struct sink *sink, const struct insertion *in,
		  struct insertion_state *state, struct error *err);

/* Ends inserts of that name and waits until they have ended. */
int insertion_end(struct sink *sink, enum sink_table table, const char *name,
		  struct error *err);

/*
 * The same with both inserts of the batch whose intent stands beside the
 * committed offset, whoever sent it: when this returns, the owner before cannot
 * store more of it under that name.  Nothing to do where Kafka told of no batch
 * of ours.
 */
int insertion_end_former(struct sink *sink, enum sink_table table,
			 const char *topic, int32_t partition,
			 const struct plan_facts *facts, struct error *err);

#endif
