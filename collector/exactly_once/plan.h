/*
 * plan.h - what a new owner of a partition does, given the facts from Kafka and
 * ClickHouse.  Rows are the truth, commits a hint.  Pure: no I/O.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_PLAN_H
#define COLLECTOR_EXACTLY_ONCE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/exactly_once/intent.h"

/* The start of reading in a partition without any history. */
enum plan_start {
	PLAN_EARLIEST,
	PLAN_LATEST, /* at the end, unless it was added */
	PLAN_ASK,    /* nowhere: an operator decides */
};

struct plan_facts {
	/* Kafka has: */
	bool committed;
	uint64_t commit;       /* offset */
	enum intent_kind kind; /* kind of the commit's metadata */
	struct intent intent;  /* for INTENT_OURS */
	uint64_t log_start;
	uint64_t log_end; /* the next record's offset */

	/* ClickHouse has, for `epoch`: */
	uint32_t epoch;
	bool raised;	/* raised by an operator */
	bool resumes;	/* the epoch begins within the log, at `begin` */
	uint64_t begin; /* the first offset of the epoch */
	uint64_t gap;	/* offsets from `gap` to `begin` were not read */
	bool reported;	/* ingest_progress has a report */
	uint64_t next;	/* all offsets before it are stored or dead-lettered */
	bool batches;	/* some reports are not gaps */
	uint64_t stored_end; /* one past the last row from `next` on; 0: none */
	/* Kafka holds another event at the offset of the last reported one: its
	 * log was cut, and has grown again. */
	bool cut;
	bool same;	    /* an operator has declared it the same topic */
	uint64_t same_next; /* `next` at that time (0: nothing reported) */

	enum plan_start start;
	/* The topic was read before it got this partition. */
	bool added;
};

enum plan_step {
	PLAN_READ,
	PLAN_STOP, /* stop until `collector epoch` decides */
};

struct plan {
	enum plan_step step;
	const char *reason; /* PLAN_STOP: the reason; static */
	uint64_t position;  /* read from here; all before it is done */
	/* `has_batch`: a batch must be repeated with its old limits */
	struct intent intent;
	/* Kafka no longer holds the offsets from gap_first to position - 1. */
	bool gap;
	uint64_t gap_first;
};

/* Returns the offset from which rows must be known: all before it is done. */
uint64_t plan_base(const struct plan_facts *facts);

struct plan plan_make(const struct plan_facts *facts);

#endif
