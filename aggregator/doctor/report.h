/*
 * report.h - the page that `aggregator doctor` prints, line by line, and the
 * functions that write its lines.
 */
#ifndef AGGREGATOR_DOCTOR_REPORT_H
#define AGGREGATOR_DOCTOR_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/progress.h"
#include "aggregator/settle/settling.h"
#include "common/app/app.h"
#include "common/clickhouse/clickhouse.h"
#include "common/clock.h"
#include "common/error.h"

enum {
	DOCTOR_DAYS_SHOWN = 5, /* with a line each; the others are counted */
};

/* Work that waits longer than this after a day is due, or after clicks of an
 * hour were reported, counts as behind. */
#define DOCTOR_DAY_AGE (6 * CLOCK_HOUR)

enum doctor_level {
	DOCTOR_FINE,
	DOCTOR_BEHIND, /* it may go on by itself, or not */
	DOCTOR_WRONG,  /* it does not go away by itself */
};

struct doctor {
	struct app *app;
	struct clickhouse *ch;
	const struct aggregator_settings *settings;
	struct settling settling; /* context for functions of settle/ */
	struct progress published;
	struct stale_list hours; /* stale hours */
	enum doctor_level worst;
};

/* Prints a line of the page. */
void doctor_say(struct doctor *d, enum doctor_level level, const char *what,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Returns "s", or "" for one. */
const char *doctor_plural(uint64_t n);

/* Whether an hour of that day (its start, seconds since 1970) is stale: its
 * rows and counts differ until it is settled. */
bool doctor_is_stale(const struct doctor *d, int64_t day);

/* Prints one or more lines; returns -1 if a query fails. */
typedef int look_fn(struct doctor *d, struct error *err);

/* look_at_watermark.c: until when counts are complete, and whether clocks
 * agree. */
look_fn look_at_watermark;

/* unsettled.c: hours and days that are to be settled, or cannot be. */
look_fn look_at_hours;
look_fn look_at_days;
look_fn look_at_held;

/* copies.c: days that are to be sealed, copied or rolled up. */
look_fn look_at_copies;

/* Reasons that keep days from being dropped, and rows of dropped days; each
 * function is in the source of the same name. */
look_fn look_at_retention;
look_fn look_at_dropped_rows;
look_fn look_at_unfinished_runs;

/* not_counted.c: events that are in no count. */
look_fn look_at_short;
look_fn look_at_not_counted;

/* comparisons.c: days for which two tables differ. */
look_fn look_at_comparisons;

/* forgotten_rows.c: rows that have forgotten visitors or links. */
look_fn look_at_forgotten_rows;

/* events.c: lost and late events, by the counters of redirectors. */
look_fn look_at_events;

#endif
