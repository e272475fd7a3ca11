/*
 * verify.h - one reconciliation: the data to compare, the results, and the
 * functions that both comparisons share.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_VERIFY_H
#define COLLECTOR_TOOLS_VERIFY_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/exactly_once/ranges.h"
#include "collector/tools/verify/ask.h"
#include "collector/tools/verify/clocks.h"
#include "collector/tools/verify/dlq_offsets.h"
#include "collector/tools/verify/event_findings.h"
#include "collector/tools/verify/settled.h"
#include "collector/tools/verify/stored_rows.h"
#include "collector/tools/verify/window.h"
#include "common/app/app.h"
#include "common/bar.h"
#include "common/kafka/reader.h"

/* A stretch of a partition in one epoch of its topic, and its results. */
struct span {
	struct stretch where;
	/* Kafka still holds it and it was read; otherwise only reports can be
	 * compared. */
	bool available;
	bool newest;  /* the partition's present epoch */
	uint64_t due; /* offsets from here on need not be stored yet */

	uint64_t events;    /* records in Kafka, or reported events */
	uint64_t rows;	    /* offsets that have a row */
	uint64_t dead;	    /* events with a dead letter */
	uint64_t dead_gone; /* reported dead letters that no longer exist */
	uint64_t replaced;  /* links: replaced by a newer version */
	uint64_t waiting;   /* not due and not stored yet */
	uint64_t twice;	    /* surplus rows */
	uint64_t unknown;   /* rows without an event */
	uint64_t missing;   /* events without any trace */
};

struct verify {
	struct app *app;
	const struct collector_config *config;
	const char *topic;
	bool links;	  /* the archive, not clicks */
	bool show_all;	  /* shows all findings to people */
	uint32_t *epochs; /* present epochs of the partitions */
	uint32_t epoch;	  /* the greatest of them */
	uint32_t partitions;
	int64_t from, to; /* ms, half-open */

	struct ask ask;
	struct kafka_reader *reader;
	struct kafka_reader *again; /* for second reads; made when needed */
	struct ranges unreadable;   /* in the span, in the order of discovery */
	bool out_of_memory;	    /* while adding one of them */
	struct dlq_offsets dead_letters;
	struct window window;

	struct span *spans;
	size_t span_count, span_room;
	struct event_findings findings;
	struct settled settled; /* clicks only */
	struct clocks clocks;

	char label[40]; /* label of the bar */
	struct bar bar;
	uint64_t done, total; /* numbers of offsets */
};

/* Shows the progress; ERROR_STOPPED when the command must stop. */
int verify_step(struct verify *v, uint64_t offsets, struct error *err);

/* Adds a finding for each run in `set` of the window, and adds its events to
 * *counter. */
int verify_find(struct verify *v, const struct span *span, enum window_set set,
		enum event_finding_kind kind, uint64_t *counter,
		struct error *err);

/* Reads IN_ROWS and IN_DEAD_LETTERS of the window, and counts surplus rows. */
int verify_read_window(struct verify *v, struct span *span,
		       const struct stretch *part, struct error *err);

/* Opens v->again at [first, last] of the span's partition. */
int verify_read_again(struct verify *v, const struct span *span, uint64_t first,
		      uint64_t last, struct error *err);

#endif
