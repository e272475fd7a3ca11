/*
 * report.h - the page that `aggregator doctor` prints, a line at a time, and
 * who looks for what its lines say.
 */
#ifndef AGGREGATOR_DOCTOR_REPORT_H
#define AGGREGATOR_DOCTOR_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/settle/progress.h"
#include "aggregator/settle/settling.h"
#include "common/app/app.h"
#include "common/clickhouse/clickhouse.h"
#include "common/clock.h"
#include "common/error.h"

enum {
	DOCTOR_DAYS_SHOWN = 5, /* by a line each; the others are counted */
};

/* What waits for longer is behind: beyond when a day is due. */
#define DOCTOR_DAY_AGE (6 * CLOCK_HOUR)

enum doctor_level {
	DOCTOR_FINE,
	DOCTOR_BEHIND, /* goes on by itself, or does not go on */
	DOCTOR_WRONG,  /* does not go away by itself */
};

struct doctor {
	struct app *app;
	struct clickhouse *ch;
	const struct aggregator_settings *settings;
	struct settling settling; /* for its clock */
	struct progress published;
	struct stale_list hours; /* that are to be settled */
	enum doctor_level worst;
};

/* A line of the page. */
void doctor_say(struct doctor *d, enum doctor_level level, const char *what,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* "s", but for one. */
const char *doctor_plural(uint64_t n);

/* Whether an hour of that day (its start, seconds since 1970) is among the
 * stale ones: what its rows and counts say differs until it is settled. */
bool doctor_is_stale(const struct doctor *d, int64_t day);

/* Says a line or some; -1 when it could not find out. */
typedef int look_fn(struct doctor *d, struct error *err);

/* In watermark.c: up to when counts are complete, and whether clocks agree. */
look_fn look_at_watermark;

/* In unsettled.c: what is to be settled, and what cannot be. */
look_fn look_at_hours;
look_fn look_at_days;
look_fn look_at_held;

/* In copies.c: days that are to be sealed, copied or rolled up. */
look_fn look_at_copies;

/* What keeps days from being dropped, and rows of days that were; each in the
 * source of its name. */
look_fn look_at_retention;
look_fn look_at_dropped_rows;
look_fn look_at_unfinished_runs;

/* In not_counted.c: what no count has. */
look_fn look_at_short;
look_fn look_at_not_counted;

/* In comparisons.c: days of which two tables disagree. */
look_fn look_at_comparisons;

/* In forgotten_rows.c: rows that have what is forgotten. */
look_fn look_at_forgotten_rows;

/* In events.c: those that are lost or late, by what redirectors told. */
look_fn look_at_events;

#endif
