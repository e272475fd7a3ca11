/*
 * insertion.h - an insert that is in its table once, whatever fails on its
 * way.
 *
 * The proof is in the rows.  An acknowledged request is trusted.  After
 * anything else - an error, no answer, a change of the owner, a restart of the
 * server - the request may have been executed, in whole, for some days of its
 * rows, or not at all, and it may still be running.  Then
 *
 *   1. the query is ended, by its id, on whichever server it runs;
 *   2. its stored rows are counted.  All: done.  None: all rows are sent under
 *      the same token.  Some: the caller makes the insert anew, without those;
 *   3. rows of an acknowledged request are counted, too: a server writes its
 *      token before it stores the rows, and may have failed in between.
 *      Acknowledged rows that are missing are sent under another token.
 *
 * So rows that are stored are never sent again, and a request that arrives
 * after it was given up finds its token used: the rows were sent since.  A row
 * is stored twice only if such a late request arrives after its token was
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
	/* For ingest_progress: the offsets that the row reports. */
	uint64_t first, last;
	/* For other tables: the offsets of the rows. */
	const struct ranges *rows;
	int64_t since_ms; /* no row has an earlier append_time */
};

struct insertion {
	enum sink_table table;
	const char *name; /* made from its intents; the token, too */
	const struct insertion_part *parts;
	size_t part_count;
	const void *rows; /* RowBinary */
	size_t len;
	uint64_t count;			   /* number of rows */
	struct collector_metrics *metrics; /* or NULL */
};

/* The state of an insert; its owner keeps this over all tries. */
struct insertion_state {
	bool doubt; /* it may have been sent, by any process */
	/* The present token was acknowledged, and not counted since. */
	bool answered;
	unsigned number; /* number of the token; 0: the token is the name */
	/* Nothing is sent later than `kept_ms` after `known_ms`, when it was
	 * known that no other process has sent it: the server may have
	 * forgotten the token.  CLOCK_BOOTTIME, which includes a machine's
	 * sleep. */
	int64_t known_ms;
	int64_t kept_ms;
};

/*
 * After a failure call it again, with the same state.  ERROR_LATE: the owner
 * must check first what is stored, and make the insert anew.
 */
int insertion_run(struct sink *sink, const struct insertion *in,
		  struct insertion_state *state, struct error *err);

/* Ends running inserts of that name and waits until they have ended. */
int insertion_end(struct sink *sink, enum sink_table table, const char *name,
		  struct error *err);

/*
 * Does the same for both inserts of the batch whose intent stands beside the
 * committed offset, whichever process sent it: when this returns, the previous
 * owner cannot store more of it under that name.  Does nothing if Kafka has no
 * batch of ours there.
 */
int insertion_end_former(struct sink *sink, enum sink_table table,
			 const char *topic, int32_t partition,
			 const struct plan_facts *facts, struct error *err);

#endif
