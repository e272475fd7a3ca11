/*
 * reconcile.h - what redirectors say they counted, against what is stored and
 * settled, hour by hour (docs/design.md, Reconciliation).
 *
 * An hour is that of the events' own time throughout.  What nobody has told is
 * unknown, never zero: a redirector of which no last record came is unknown
 * from its last one on, until it is started again or for a day.
 */
#ifndef AGGREGATOR_RECONCILE_RECONCILE_H
#define AGGREGATOR_RECONCILE_RECONCILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "linkstore/clicks_config.h"

/* Rows of so many hours are counted at once, at most. */
#define RECONCILE_HOURS_MAX 48

enum reconciled_answer {
	RECONCILED_REDIRECTED,
	RECONCILED_NOT_FOUND,
	RECONCILED_EXPIRED,
	RECONCILED_BLOCKED,
	RECONCILED_HEAD,
	RECONCILED_SILENT, /* answered without an event */
	RECONCILED_ANSWERS
};
extern const char *const reconciled_answer_names[RECONCILED_ANSWERS];

struct reconciled_hour {
	int64_t start; /* seconds since 1970, UTC */
	/* Told by redirectors. */
	uint64_t answered[RECONCILED_ANSWERS];
	uint64_t produced, acknowledged;
	uint64_t dropped; /* refused by the producer, or given up by it */
	uint64_t spooled, replayed;
	uint64_t withheld; /* answers whose event was not sent, by rule */
	/* Rows of clicks. */
	uint64_t stored; /* of redirectors */
	uint64_t imported;
	uint64_t late;	     /* of those stored: click_is_late */
	uint64_t repeats;    /* of an event that another row tells of */
	uint64_t removed;    /* of these: with the outcome 'repeated' */
	uint64_t unreported; /* of redirectors that have told nothing */
	uint64_t settled;    /* events, as published */
	/* What is not known. */
	int64_t unknown_ms; /* summed up over redirectors */
	size_t unknown;	    /* redirectors that are missing */
	bool inexact;
	bool settling; /* the watermark has not passed it */
	/* The attempt that had sealed its day before it was looked at; 0: none.
	 */
	uint64_t sealed_by;
	/* Its rows are dropped: all that is known is what was kept of it when
	 * it was last reconciled (ms since 1970; 0: nothing). */
	bool gone;
	int64_t kept_at;
};

/* Between which two figures events were lost; negative: there are more behind
 * than before. */
enum reconciled_step {
	LOST_BEFORE_PRODUCED,
	LOST_BEFORE_ACKNOWLEDGED,
	LOST_BEFORE_STORED,
	LOST_BEFORE_SETTLED,
	LOST_STEPS
};
extern const char *const reconciled_step_names[LOST_STEPS];
int64_t reconciled_lost(const struct reconciled_hour *h,
			enum reconciled_step step);

/* Answers that an event is due for: not those that are silent, nor those whose
 * event was withheld. */
uint64_t reconciled_due(const struct reconciled_hour *h);

/* Every redirector has told all of the hour. */
bool reconciled_is_reported(const struct reconciled_hour *h);

/* That, and the hour is settled: what is lost is lost. */
bool reconciled_is_complete(const struct reconciled_hour *h);

/* Over the hours that are complete, what is lost and what is too much apart;
 * `late` over all. */
struct reconciled_sum {
	size_t hours, unknown_hours; /* complete, and others */
	uint64_t late;
	int64_t lost[LOST_STEPS], surplus[LOST_STEPS];
};

/* A redirector of which nothing is known for a while (ms since 1970). */
struct reconciled_gap {
	char *instance;
	uint64_t boot;
	int64_t from, to;
};

struct reconciliation {
	struct reconciled_hour *hours;
	size_t count;
	struct reconciled_gap *gaps; /* that touch the hours */
	size_t gap_count;
	int64_t complete_until; /* ms since 1970 */
};

/*
 * The hours between `from` and `to` (seconds, whole hours, at most
 * RECONCILE_HOURS_MAX); those of days that were dropped as they were kept
 * (reconciled_hours.h).  Release with reconciliation_release, also after a
 * failure.
 */
int reconcile(struct clickhouse *ch, const struct clicks_config *clicks,
	      int64_t from, int64_t to, struct reconciliation *ret,
	      struct error *err);
void reconciliation_release(struct reconciliation *r);

void reconciliation_sum(const struct reconciliation *r,
			struct reconciled_sum *ret);

/* --- for reconcile, and for tests of it ------------------------------------
 */

/* A redirector from its start to its end. */
struct redirector_life {
	char *instance;
	uint64_t boot;
	int64_t started, until; /* ms */
	bool ended;
};

/* Up to when nothing is known of lives[i] since its `until`; that itself where
 * nothing is missing. */
int64_t redirector_life_unknown_to(const struct redirector_life *lives,
				   size_t count, size_t i);

#endif
