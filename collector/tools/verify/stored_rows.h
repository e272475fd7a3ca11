/*
 * stored_rows.h - which offsets the rows of a topic's table are of.
 *
 * Asked in words of 64 offsets: as many bytes for a million offsets as for a
 * million bits, whatever the table holds.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_STORED_ROWS_H
#define COLLECTOR_TOOLS_VERIFY_STORED_ROWS_H

#include "collector/tools/verify/ask.h"
#include "collector/tools/verify/findings.h"
#include "collector/tools/verify/survey.h"
#include "collector/tools/verify/window.h"

/* Offsets of a partition in one life of its topic, and when Kafka stored them.
 */
struct stretch {
	uint32_t partition, epoch;
	uint64_t first, end;
	int64_t since_ms, until_ms; /* from, up to and without */
};

/* All that is stored of the topic with an append time from `from` up to
 * `to`. */
int stored_rows_survey(struct ask *a, int64_t from, int64_t to,
		       struct survey *ret, struct error *err);

#define STORED_ROWS_WORDS_MAX 64
/* Offsets that have more than one row.  Of links none has: rows of one offset
 * are the same version of the same link, of which the table keeps one, and
 * until a merge has dropped the others readers leave them out (insertion.c says
 * when such are stored). */
struct stored_rows_twice {
	uint64_t surplus;		       /* rows too many */
	uint64_t words[STORED_ROWS_WORDS_MAX]; /* where the first ones are */
	size_t count;
};

/* Fills IN_ROWS of the window, which lies in the stretch, and TIMES_OF_ROWS if
 * the table has times. */
int stored_rows_read(struct ask *a, const struct stretch *s, struct window *w,
		     struct stored_rows_twice *ret_twice, struct error *err);

/* When Kafka stored the events of the rows at the offsets from `first`, a
 * multiple of 64, to first + 63 (ms); -1: there is no row. */
int stored_rows_times(struct ask *a, const struct stretch *s, uint64_t first,
		      int64_t ret_ms[64], struct error *err);

/* Adds findings that name the offsets in the words of `twice`. */
int stored_rows_name_twice(struct ask *a, const struct stretch *s,
			   const struct window *w,
			   const struct stored_rows_twice *twice,
			   struct findings *findings, struct error *err);

/* How many rows of the stretch there are, and the least and greatest offset. */
int stored_rows_extent(struct ask *a, const struct stretch *s,
		       struct survey_entry *ret, struct error *err);

/*
 * Adds findings of events with a row in each of several epochs; `stored` says
 * which partitions have rows of several.
 *
 * An epoch that was begun for a log that is what it was makes the collectors
 * read it again: each event has a row in both epochs, and no offset is there
 * twice.  A row of the same event that Kafka stored at the same time is the
 * same record.  Clicks only: of links one row is kept.
 */
int stored_rows_name_reread(struct ask *a, int64_t from, int64_t to,
			    const struct survey *stored,
			    struct findings *findings, struct error *err);

#endif
