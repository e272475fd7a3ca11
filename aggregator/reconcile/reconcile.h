/*
 * reconcile.h - compares, hour by hour, what redirectors counted with what is
 * stored and settled (docs/design.md, Reconciliation).
 *
 * An hour is always that of the events' own time.  Counts that were not
 * reported are unknown, never zero: a redirector that sent no final record is
 * unknown from its last record on, until its instance is started again or for a
 * day.
 */
#ifndef AGGREGATOR_RECONCILE_RECONCILE_H
#define AGGREGATOR_RECONCILE_RECONCILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "linkstore/clicks_config.h"

/* Most hours whose rows are counted at once. */
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
	/* Reported by redirectors. */
	uint64_t answered[RECONCILED_ANSWERS];
	uint64_t produced, acknowledged;
	uint64_t dropped; /* refused or abandoned by the producer */
	uint64_t spooled, replayed;
	uint64_t withheld; /* answers whose event was not sent, by rule */
	/* Rows of clicks. */
	uint64_t stored; /* rows from redirectors */
	uint64_t imported;
	uint64_t late;	     /* stored rows with click_is_late */
	uint64_t repeats;    /* rows of an event that another row has, too */
	uint64_t removed;    /* repeats with the outcome 'repeated' */
	uint64_t unreported; /* from redirectors that reported no counters */
	uint64_t settled;    /* published events */
	/* Rows were stored since the hour was settled, and wait until it is
	 * settled again: until then nothing is lost between rows and counts. */
	bool waits;
	uint64_t attempt; /* under which the hour is published; 0: not yet */
	/* Unknown parts. */
	int64_t unknown_ms; /* the unreported time, over all redirectors */
	size_t unknown;	    /* number of redirectors with unknown counts */
	bool inexact;
	bool settling; /* the watermark has not passed the hour */
	/* The attempt that had sealed the hour's day before this
	 * reconciliation; 0: none. */
	uint64_t sealed_by;
	/* The hour's rows are dropped: the figures are those kept when it was
	 * last reconciled (ms since 1970; 0: nothing was kept). */
	bool gone;
	int64_t kept_at;
};

/* The steps between two figures at which events can be lost.  Negative: the
 * later figure is greater. */
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

/* Returns the number of rows that wait to be settled. */
uint64_t reconciled_waiting(const struct reconciled_hour *h);

/* Returns the answers for which an event is due: all but silent ones and those
 * whose event was withheld. */
uint64_t reconciled_due(const struct reconciled_hour *h);

/* Whether every redirector has reported the whole hour. */
bool reconciled_is_reported(const struct reconciled_hour *h);

/* Whether that is so and the watermark has passed the hour: then losses before
 * the last step are final. */
bool reconciled_is_passed(const struct reconciled_hour *h);

/* Whether that is so and no row waits: then all losses are final. */
bool reconciled_is_complete(const struct reconciled_hour *h);

/* Losses and surpluses, summed apart over passed hours; `late` and `waiting`
 * over all hours. */
struct reconciled_sum {
	size_t hours, unknown_hours; /* passed hours, and others */
	uint64_t late, waiting;
	int64_t lost[LOST_STEPS], surplus[LOST_STEPS];
};

/* A time in which a redirector's counts are unknown (ms since 1970). */
struct reconciled_gap {
	char *instance;
	uint64_t boot;
	int64_t from, to;
};

struct reconciliation {
	struct reconciled_hour *hours;
	size_t count;
	struct reconciled_gap *gaps; /* those that touch the hours */
	size_t gap_count;
	int64_t complete_until; /* ms since 1970 */
};

/*
 * Reconciles the hours between `from` and `to` (seconds, whole hours, at most
 * RECONCILE_HOURS_MAX); hours of dropped days are returned as they were kept
 * (reconciled_hours.h).  The caller calls reconciliation_release, also after a
 * failure.
 */
int reconcile(struct clickhouse *ch, const struct clicks_config *clicks,
	      int64_t from, int64_t to, struct reconciliation *ret,
	      struct error *err);
void reconciliation_release(struct reconciliation *r);

void reconciliation_sum(const struct reconciliation *r,
			struct reconciled_sum *ret);

/* --- for reconcile and its tests -------------------------------------------
 */

/* A redirector from its start to its end. */
struct redirector_life {
	char *instance;
	uint64_t boot;
	int64_t started, until; /* ms */
	bool ended;
};

/* Returns until when lives[i] is unknown since its `until`; returns `until` if
 * nothing is missing. */
int64_t redirector_life_unknown_to(const struct redirector_life *lives,
				   size_t count, size_t i);

#endif
