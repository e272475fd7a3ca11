/*
 * stored_rows.h - the offsets that have a row in a topic's table.
 *
 * Queries return words of 64 offsets: a million offsets take a million bits,
 * whatever the table holds.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_STORED_ROWS_H
#define COLLECTOR_TOOLS_VERIFY_STORED_ROWS_H

#include "collector/tools/verify/ask.h"
#include "collector/tools/verify/event_findings.h"
#include "collector/tools/verify/offset_survey.h"
#include "collector/tools/verify/window.h"

/* Offsets of a partition in one epoch of its topic, and the time range in which
 * Kafka stored them. */
struct stretch {
	uint32_t partition, epoch;
	uint64_t first, end;
	int64_t since_ms, until_ms; /* [since_ms, until_ms) */
};

/* Queries all rows of the topic with an append time in [from, to). */
int stored_rows_survey(struct ask *a, int64_t from, int64_t to,
		       struct offset_survey *ret, struct error *err);

#define STORED_ROWS_WORDS_MAX 64
/* Offsets with more than one row.  Links have no such offsets: rows of one
 * offset are the same version of the same link, of which the table keeps one,
 * and until a merge drops the others, queries leave them out (see insertion.c
 * for when such rows are stored). */
struct stored_rows_twice {
	uint64_t surplus; /* number of surplus rows */
	/* The first words with such offsets. */
	uint64_t words[STORED_ROWS_WORDS_MAX];
	size_t count;
};

/* Fills IN_ROWS of the window, which lies in the stretch, and TIMES_OF_ROWS if
 * the table has times. */
int stored_rows_read(struct ask *a, const struct stretch *s, struct window *w,
		     struct stored_rows_twice *ret_twice, struct error *err);

/* Queries when Kafka stored the events of the rows at the offsets from `first`,
 * a multiple of 64, to first + 63 (ms); -1: there is no row. */
int stored_rows_times(struct ask *a, const struct stretch *s, uint64_t first,
		      int64_t ret_ms[64], struct error *err);

/* Adds findings that name the offsets in the words of `twice`. */
int stored_rows_name_twice(struct ask *a, const struct stretch *s,
			   const struct window *w,
			   const struct stored_rows_twice *twice,
			   struct event_findings *findings, struct error *err);

/* Queries the number of rows of the stretch, and the least and greatest
 * offset. */
int stored_rows_extent(struct ask *a, const struct stretch *s,
		       struct offset_survey_entry *ret, struct error *err);

/*
 * Adds findings for events with a row in each of several epochs; `stored` shows
 * which partitions have rows of several.
 *
 * If an epoch is begun although the log is unchanged, collectors read the log
 * again: each event has a row in both epochs, and no offset occurs twice.  A
 * row of the same event with the same time in Kafka is the same record.  Clicks
 * only: for links one row is kept.
 */
int stored_rows_name_reread(struct ask *a, int64_t from, int64_t to,
			    const struct offset_survey *stored,
			    struct event_findings *findings, struct error *err);

#endif
