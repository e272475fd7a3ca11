#include "aggregator/aggregator_config.h"
#include "aggregator/commands.h"
#include "aggregator/doctor/report.h"
#include "aggregator/migrate/migrate.h"
#include "common/clickhouse/clickhouse.h"

/*
 * `aggregator doctor`: prints one page with everything that is behind, unsealed
 * or contradictory.  It only reads, and only from ClickHouse; no aggregator has
 * to run.
 */

/* The order is that of the lines on the page. */
static look_fn *const looks[] = {
	look_at_hours,		 look_at_days,		 look_at_held,
	look_at_copies,		 look_at_retention,	 look_at_dropped_rows,
	look_at_unfinished_runs, look_at_short,		 look_at_not_counted,
	look_at_comparisons,	 look_at_forgotten_rows, look_at_events,
};

/* The stale hours are read before rows are compared: hours of rows that come in
 * meanwhile are among them. */
static int run_all_looks(struct doctor *d, struct error *err)
{
	if (progress_read_last(d->ch, &d->published, err) < 0 ||
	    look_at_watermark(d, err) < 0 ||
	    progress_stale_hours(d->ch, 0, 0, true, &d->hours, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(looks) / sizeof(*looks); i++)
		if (looks[i](d, err) < 0)
			return -1;
	return 0;
}

static int open_and_look(struct doctor *d,
			 const struct aggregator_config *config,
			 struct error *err)
{
	struct clickhouse_config patient = config->clickhouse;
	int status = -1;

	patient.query_timeout = config->aggregator.settle_timeout;
	d->ch = clickhouse_new(&patient, err);
	if (!d->ch)
		return -1;
	d->settling.ch = d->ch;
	if (settling_read_clock(d->ch, &d->settling.clock, err) == 0 &&
	    migrate_check(d->ch, err) == 0) {
		doctor_say(d, DOCTOR_FINE, "tables",
			   "all migrations are applied");
		status = run_all_looks(d, err);
	}
	stale_list_release(&d->hours);
	clickhouse_free(d->ch);
	return status;
}

int aggregator_doctor(struct app *app, const void *arg, struct error *err)
{
	const struct aggregator_config *config = arg;
	struct doctor d = {
		.app = app,
		.settings = &config->aggregator,
		.settling = {.settings = &config->aggregator},
	};

	if (open_and_look(&d, config, err) < 0)
		return error_wrap(err, "doctor");
	return d.worst != DOCTOR_FINE;
}
