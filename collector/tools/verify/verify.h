/*
 * verify.h - one reconciliation: what is compared, what came out, and what both
 * ways of comparing share.
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
#include "collector/tools/verify/findings.h"
#include "collector/tools/verify/settled.h"
#include "collector/tools/verify/stored_rows.h"
#include "collector/tools/verify/window.h"
#include "common/app/app.h"
#include "common/bar.h"
#include "common/kafka/reader.h"

/* A stretch of a partition in one life of its topic, and what was found. */
struct span {
	struct stretch where;
	/* Kafka still holds it and was read; otherwise what was reported of it
	 * is all that is left to compare with. */
	bool available;
	bool newest;  /* the partition's present life */
	uint64_t due; /* from here on it need not be stored yet */

	uint64_t events;    /* records of Kafka, or events reported */
	uint64_t rows;	    /* offsets that have a row */
	uint64_t dead;	    /* events with a dead letter */
	uint64_t dead_gone; /* reported as such, but the letter is gone */
	uint64_t replaced;  /* links: a newer version is there instead */
	uint64_t waiting;   /* not due and not there yet */
	uint64_t twice;	    /* rows too many */
	uint64_t unknown;   /* rows of no event */
	uint64_t missing;   /* events of which nothing is left */
};

struct verify {
	struct app *app;
	const struct collector_config *config;
	const char *topic;
	bool links;	  /* the archive, rather than clicks */
	bool show_all;	  /* findings, to people */
	uint32_t *epochs; /* that the partitions are in */
	uint32_t epoch;	  /* the greatest of them */
	uint32_t partitions;
	int64_t from, to; /* ms, half-open */

	struct ask ask;
	struct kafka_reader *reader;
	struct kafka_reader *again; /* for what is read twice; made then */
	struct ranges unreadable;   /* of the span, as they were met */
	bool out_of_memory;	    /* for one of them */
	struct dlq_offsets dead_letters;
	struct window window;

	struct span *spans;
	size_t span_count, span_room;
	struct findings findings;
	struct settled settled; /* clicks only */
	struct clocks clocks;

	char label[40]; /* of the bar */
	struct bar bar;
	uint64_t done, total; /* offsets */
};

/* Shows how far it is; ERROR_STOPPED when it is to stop. */
int verify_step(struct verify *v, uint64_t offsets, struct error *err);

/* Adds a finding for each run in `set` of the window, and counts its events in
 * *counter, too. */
int verify_find(struct verify *v, const struct span *span, enum window_set set,
		enum finding_kind kind, uint64_t *counter, struct error *err);

/* Reads IN_ROWS and IN_DEAD_LETTERS of the window, and counts surplus rows. */
int verify_read_window(struct verify *v, struct span *span,
		       const struct stretch *part, struct error *err);

/* Opens v->again at [first, last] of the span's partition. */
int verify_read_again(struct verify *v, const struct span *span, uint64_t first,
		      uint64_t last, struct error *err);

#endif
