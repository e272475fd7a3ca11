/*
 * plan.h - what a new owner of a partition does, from what Kafka and ClickHouse
 * say of it.  Rows are the truth, commits a hint.  Pure: no I/O.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_PLAN_H
#define COLLECTOR_EXACTLY_ONCE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/exactly_once/intent.h"

/* Where a partition starts in which nothing was ever done. */
enum plan_start {
	PLAN_EARLIEST,
	PLAN_LATEST, /* where it ends, unless it was added */
	PLAN_ASK,    /* it does not: an operator says */
};

struct plan_facts {
	/* of Kafka */
	bool committed;
	uint64_t commit;       /* offset */
	enum intent_kind kind; /* of what was written beside it */
	struct intent intent;  /* for INTENT_OURS */
	uint64_t log_start;
	uint64_t log_end; /* the next record's offset */

	/* of ClickHouse, in `epoch` */
	uint32_t epoch;
	bool raised;	     /* by an operator, not by the configuration */
	bool resumes;	     /* the epoch begins within the log: */
	uint64_t begin;	     /* here, */
	uint64_t gap;	     /* and from here to there nothing was read */
	bool reported;	     /* anything, in ingest_progress: */
	uint64_t next;	     /* all before it was stored or dead-lettered */
	bool batches;	     /* some of it was not a gap */
	uint64_t stored_end; /* one past the last row behind that; 0: none */
	/* Kafka holds another event where the last one reported was: its log
	 * was cut, and has grown again. */
	bool cut;
	bool same;	    /* an operator said: it is the topic it was, */
	uint64_t same_next; /* when `next` was this (0: nothing reported) */

	enum plan_start start;
	/* The topic was read before it had this partition. */
	bool added;
};

enum plan_step {
	PLAN_READ,
	PLAN_STOP, /* until `collector epoch` says what is right */
};

struct plan {
	enum plan_step step;
	const char *reason; /* PLAN_STOP: why; static */
	uint64_t position;  /* read from here; all before is done */
	/* `has_batch` when a batch must be made again as it was cut */
	struct intent intent;
	/* Offsets that Kafka no longer holds: gap_first to position - 1. */
	bool gap;
	uint64_t gap_first;
};

/* From where on rows must be known: all before is done. */
uint64_t plan_base(const struct plan_facts *facts);

struct plan plan_make(const struct plan_facts *facts);

#endif
