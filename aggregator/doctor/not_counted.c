#include "aggregator/doctor/report.h"

#include <inttypes.h>

#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/*
 * Events that are in no count: rows that collectors reported and that did not
 * exist when their hours were settled; dead letters; offsets that Kafka no
 * longer held when they were to be read.
 */

struct short_days {
	struct doctor *d;
	uint64_t count;
};

/* A row is: start, reported rows, missing rows. */
static int take_short(void *arg, char **f, struct error *err)
{
	struct short_days *days = arg;
	int64_t day = tsv_i64(f[0]);
	char from[CIVIL_NAME_MAX], to[CIVIL_NAME_MAX];

	(void)err;
	if (doctor_is_stale(days->d, day) || days->count++ >= DOCTOR_DAYS_SHOWN)
		return 0;
	civil_day_name(day, from);
	doctor_say(
		days->d, DOCTOR_WRONG, "short",
		"%s: of %" PRIu64 " rows that collectors reported %" PRIu64
		" were not there when its hours were settled: see 'collector "
		"verify'; 'aggregator settle --from %s --to %s' takes it as it "
		"is",
		from, tsv_u64(f[1]), tsv_u64(f[2]), from,
		civil_day_name(day + CLOCK_DAY / 1000, to));
	return 0;
}

/*
 * Lists days, in ascending order, whose published hours have fewer events than
 * were reported.  Dropped days are left out, because their rows cannot be
 * restored; so are hours last published by `aggregator settle`, because an
 * operator has checked their rows.
 */
static int read_short(struct short_days *days, struct error *err)
{
	/* Hours that stats_hourly has lost are left out: their rows may
	 * exist. */
	static const char sql[] =
#include "aggregator/sql/short_days.sql.inc"
		;

	if (clickhouse_rows(days->d->ch, sql, NULL, "nnn", take_short, days,
			    err) < 0)
		return error_wrap(err, "rows that were not settled");
	return 0;
}

int look_at_short(struct doctor *d, struct error *err)
{
	struct short_days days = {.d = d};

	if (read_short(&days, err) < 0)
		return -1;
	if (days.count > DOCTOR_DAYS_SHOWN)
		doctor_say(d, DOCTOR_WRONG, "short",
			   "and %" PRIu64 " more days",
			   days.count - DOCTOR_DAYS_SHOWN);
	if (!days.count)
		doctor_say(d, DOCTOR_FINE, "short",
			   "no hour was settled from fewer rows than were "
			   "reported");
	return 0;
}

/* Counts in the reports of the last 24 hours. */
struct not_counted {
	uint64_t dead_lettered, lost;
};

static int read_not_counted(struct clickhouse *ch, struct not_counted *ret,
			    struct error *err)
{
	/* A block that was reported twice has the same offsets. */
	static const char sql[] =
#include "aggregator/sql/not_counted.sql.inc"
		;
	uint64_t n[2] = {0};

	if (clickhouse_numbers(ch, sql, NULL, n, 2, err) < 0)
		return error_wrap(err, "dead letters");
	*ret = (struct not_counted){n[0], n[1]};
	return 0;
}

/* A dead letter that is sent again is counted; it stays in this line for a
 * day. */
int look_at_not_counted(struct doctor *d, struct error *err)
{
	struct not_counted n = {0};

	if (read_not_counted(d->ch, &n, err) < 0)
		return -1;
	doctor_say(d,
		   n.lost	     ? DOCTOR_WRONG
		   : n.dead_lettered ? DOCTOR_BEHIND
				     : DOCTOR_FINE,
		   "not counted",
		   "%" PRIu64 " dead letter%s and %" PRIu64
		   " offset%s that Kafka no longer held, in reports of the "
		   "last 24 hours%s",
		   n.dead_lettered, doctor_plural(n.dead_lettered), n.lost,
		   doctor_plural(n.lost),
		   n.dead_lettered + n.lost ? ": see GET /v1/pipeline" : "");
	return 0;
}
