#include "aggregator/settle/day_settler.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "aggregator/reconcile/reconcile_day.h"
#include "aggregator/reconcile/reconcile_gauges.h"
#include "aggregator/reconcile/reconciled_hours.h"
#include "aggregator/settle/creations.h"
#include "aggregator/settle/day_pass.h"
#include "aggregator/settle/repeats.h"
#include "aggregator/settle/retry.h"
#include "aggregator/settle/table_state.h"
#include "aggregator/zone/civil.h"
#include "common/clock.h"
#include "common/periodic.h"

struct day_settler_metrics {
	struct metric *days, *copied[COPIED_KINDS];
	struct metric *dropped, *rows_deleted;
	struct metric *repeats;
	struct metric *creations;
};

struct day_settler {
	struct day_settler_env env;
	struct day_settler_metrics metrics;
	struct periodic *thread;
	atomic_bool allowed;
	atomic_bool known; /* `allowed` was set, and the tables exist */
	struct clickhouse *ch;
	struct settling settling;
	struct day_pass *pass;
	struct reconcile_gauges reconciled;
	/* Monotonic ms of the next run. */
	int64_t reconcile_at, repeats_at, creations_clean_at;
	struct retry retry;
};

static bool is_stopping(void *arg)
{
	struct day_settler *d = arg;

	return periodic_should_stop(d->thread, 0);
}

static int check_lease(void *arg, struct error *err)
{
	struct day_settler *d = arg;

	return lease_check(d->env.lease, err);
}

static void on_shortage(void *arg, const struct shortage *s)
{
	struct day_settler *d = arg;

	d->env.on_shortage(d->env.arg, s);
}

/* --- results ---------------------------------------------------------------
 */

static void report_repeats(const struct day_settler *d,
			   const struct repeats_removed *removed)
{
	metric_add(d->metrics.repeats, removed->rows);
	if (removed->rows || removed->hours)
		log_info(d->env.log,
			 "events that were sent twice are one click each",
			 log_int("rows", (int64_t)removed->rows),
			 log_int("hours_again", (int64_t)removed->hours));
}

void day_settler_report_repeats(const struct day_settler *d,
				const struct repeats_removed *removed)
{
	report_repeats(d, removed);
}

static void on_repeats(void *arg, const struct repeats_removed *removed)
{
	report_repeats(arg, removed);
}

/* Logs that a server has lost part of what is settled. */
static void warn_of_lack(struct day_settler *d, const char *what, int64_t day,
			 const struct drop_lack *lack)
{
	char name[CIVIL_NAME_MAX];

	log_warn(d->env.log, what, log_str("day", civil_day_name(day, name)),
		 log_str("table", lack->table),
		 log_str("dimension", lack->dimension),
		 log_int("events", (int64_t)lack->have),
		 log_int("of", (int64_t)lack->want));
}

static void report_lacks(struct day_settler *d, const struct day_pass_result *r)
{
	if (r->drop.why == DROP_LACKS)
		warn_of_lack(
			d,
			r->drop.again
				? "a day that is to be dropped is not whole; "
				  "it is settled again from its rows"
				: "a day that is to be dropped is not whole, "
				  "and keeps its rows",
			r->drop.start, &r->drop.lack);
	if (r->deleted.kept_days)
		warn_of_lack(d,
			     "a day that was dropped is not whole any more, "
			     "and keeps "
			     "its rows",
			     r->deleted.kept_day, &r->deleted.lack);
}

static void report_dropped(struct day_settler *d,
			   const struct day_pass_result *r)
{
	char name[CIVIL_NAME_MAX];

	metric_add(d->metrics.dropped, r->dropped);
	report_repeats(d, &r->removed);
	report_lacks(d, r);
	metric_add(d->metrics.rows_deleted, r->deleted.rows);
	if (r->dropped)
		log_info(d->env.log,
			 "dropped a day; its rows are deleted after "
			 "keep_superseded",
			 log_str("day", civil_day_name(r->drop.start, name)));
	if (r->kept_from)
		log_info(d->env.log, "dropped what was settled of older months",
			 log_str("kept_from",
				 civil_day_name(r->kept_from, name)));
	if (r->deleted.rows)
		log_info(d->env.log, "deleted rows of days that were dropped",
			 log_int("rows", (int64_t)r->deleted.rows));
}

static void log_days(struct day_settler *d, const char *what, size_t days,
		     int64_t ms)
{
	if (days)
		log_debug(d->env.log, "settled a day",
			  log_int(what, (int64_t)days), log_int("ms", ms));
}

static void report_done(struct day_settler *d, const struct day_pass_result *r,
			int64_t ms)
{
	metric_add(d->metrics.days, r->days);
	for (size_t i = 0; i < COPIED_KINDS; i++)
		metric_add(d->metrics.copied[i], r->copied[i]);
	report_dropped(d, r);
	log_days(d, "days", r->days, ms);
	for (size_t i = 0; i < COPIED_KINDS; i++)
		log_days(d, derived_copy((enum copied)i)->logged, r->copied[i],
			 ms);
}

/* --- reconciliation ---------------------------------------------------------
 */

/* Reconciles the hours of a day from `from` (seconds) on, and shows the result
 * if there are gauges. */
static int reconcile_from(struct day_settler *d, int64_t from,
			  struct reconcile_gauges *gauges, struct error *err)
{
	struct reconciliation found = {0};
	int status = reconcile_day(d->ch, &d->env.config->aggregator.clicks,
				   from, &found, err);

	if (status == 0 && gauges)
		reconcile_gauges_set(gauges, &found);
	reconciliation_release(&found);
	return status;
}

/*
 * Reconciles the hours that end before `complete_until` (ms; 0: not known), and
 * one day that was sealed since it was last reconciled, with the late clicks
 * until then.
 */
static int reconcile_what_is_due(struct day_settler *d, int64_t complete_until,
				 struct error *err)
{
	int64_t every = d->env.config->aggregator.reconcile_every;
	int64_t to = complete_until / CLOCK_HOUR * CLOCK_HOUR / CLOCK_SECOND;
	int64_t now = clock_monotonic_ms(), sealed;

	if (!every || now < d->reconcile_at || to < CIVIL_DAY)
		return 0;
	d->reconcile_at = now + every;
	if (reconcile_from(d, to - CIVIL_DAY, &d->reconciled, err) < 0 ||
	    reconciled_hours_due(d->ch, &sealed, err) < 0)
		return -1;
	return sealed < 0 ? 0 : reconcile_from(d, sealed, NULL, err);
}

/* A failure does not stop settling. */
static void update_reconciled(struct day_settler *d, int64_t complete_until)
{
	struct error err = {0};

	if (reconcile_what_is_due(d, complete_until, &err) < 0)
		log_warn(d->env.log, "not reconciled", log_err(&err));
}

/* --- events that were sent twice --------------------------------------------
 */

/*
 * Settling an hour already looks for repeats.  This run finds those that
 * another process, or a settler that was killed, marked without reporting their
 * hours, and rows whose time was moved to another hour than that of the event's
 * other rows.
 */
static int look_for_repeats(struct day_settler *d, struct error *err)
{
	const struct aggregator_settings *settings = &d->env.config->aggregator;
	int64_t now;
	struct repeats_removed removed;
	int status;

	if (clock_monotonic_ms() < d->repeats_at)
		return 0;
	d->repeats_at = clock_monotonic_ms() + settings->recheck_every;
	if (settling_read_clock(d->ch, &d->settling.clock, err) < 0)
		return -1;
	now = settling_now(&d->settling) / CLOCK_SECOND;
	status = repeats_remove(&d->settling,
				repeats_earliest(&settings->clicks, now),
				now + CIVIL_DAY, &removed, err);
	report_repeats(d, &removed);
	return status;
}

static void update_repeats(struct day_settler *d)
{
	struct error err = {0};

	if (look_for_repeats(d, &err) < 0)
		log_warn(d->env.log, "events that were sent twice not found",
			 log_err(&err));
}

/* --- links created ---------------------------------------------------------
 */

static void report_creations(const struct day_settler *d,
			     const struct creations_result *r)
{
	metric_add(d->metrics.creations, r->hours);
	if (r->held)
		log_warn(d->env.log,
			 "rows of created_links are gone: the counts of links "
			 "created that were published before stay",
			 log_int("hours", (int64_t)r->held));
}

static int settle_creations(struct day_settler *d, struct error *err)
{
	int64_t now = clock_monotonic_ms();
	struct creations_result result;
	int status;

	if (settling_read_clock(d->ch, &d->settling.clock, err) < 0)
		return -1;
	do {
		status = creations_settle(&d->settling, &result, err);
		report_creations(d, &result);
	} while (status == 0 && result.more);
	if (status < 0 || now < d->creations_clean_at)
		return status;
	d->creations_clean_at = now + d->env.config->aggregator.clean_every;
	return creations_clean(&d->settling, err);
}

/* A failure does not stop settling. */
static void update_creations(struct day_settler *d)
{
	struct error err = {0};

	if (settle_creations(d, &err) < 0 && err.code != ERROR_STOPPED)
		log_warn(d->env.log, "links created not counted",
			 log_err(&err));
}

/* --- a step -----------------------------------------------------------------
 */

static int run_pass_over_days(struct day_settler *d,
			      struct day_pass_result *ret, struct error *err)
{
	int64_t start = clock_monotonic_ms();
	int status = day_pass_run(d->pass, atomic_load(&d->allowed), ret, err);

	report_done(d, ret, clock_monotonic_ms() - start);
	if (ret->ended) {
		update_repeats(d);
		update_reconciled(d, ret->complete_until);
		update_creations(d);
	}
	return status < 0 ? error_wrap(err, "settle days") : 0;
}

/* The thread of hours checks that the tables exist. */
static int try_step(struct day_settler *d, struct day_pass_result *ret,
		    struct error *err)
{
	bool owned = false;

	if (!atomic_load(&d->known))
		return 0;
	if (lease_acquire(d->env.lease, &owned, err) < 0)
		return -1;
	return owned ? run_pass_over_days(d, ret, err) : 0;
}

/* The thread is woken whenever hours were settled; work that becomes due with
 * time can wait, but for corrections. */
static int64_t wait_after(const struct day_settler *d,
			  const struct day_pass_result *result)
{
	int64_t every = d->env.config->aggregator.settle_every;

	if (result->more)
		return 0;
	return result->soon ? every / 2 : TABLE_WATCH_LOOK_EVERY * every;
}

/* Returns how long to wait before the next step (ms). */
static int64_t run_days_step(struct periodic *self, void *arg)
{
	struct day_settler *d = arg;
	struct day_pass_result result = {0};
	struct error err = {0};

	(void)self;
	if (try_step(d, &result, &err) == 0) {
		d->retry.in_a_row = 0;
		return wait_after(d, &result);
	}
	return retry_after(&d->retry, &err, is_stopping(d));
}

/* --- the thread -------------------------------------------------------------
 */

static void register_metrics(struct day_settler *d, struct metrics *m)
{
	d->metrics.days =
		metrics_counter(m, "shortloop_aggregator_days_total", NULL,
				"Days settled, repetitions included.");
	for (size_t i = 0; i < COPIED_KINDS; i++) {
		const struct derived *copy = derived_copy((enum copied)i);

		d->metrics.copied[i] =
			metrics_counter(m, copy->metric, NULL, copy->help);
	}
	d->metrics.dropped = metrics_counter(
		m, "shortloop_aggregator_dropped_days_total", NULL,
		"Days whose rows of clicks were dropped, repetitions "
		"included.");
	d->metrics.rows_deleted = metrics_counter(
		m, "shortloop_aggregator_deleted_rows_total", NULL,
		"Rows of clicks deleted because their day was dropped.");
	d->metrics.repeats = metrics_counter(
		m, "shortloop_aggregator_repeats_removed_total", NULL,
		"Rows of clicks that count as events only, as another row is "
		"of the same event.");
	d->metrics.creations = metrics_counter(
		m, "shortloop_aggregator_creation_hours_total", NULL,
		"Hours of links created that were settled, repetitions "
		"included.");
	reconcile_gauges_register(&d->reconciled, m);
}

struct day_settler *day_settler_new(const struct day_settler_env *env,
				    struct metrics *metrics, struct error *err)
{
	struct day_settler *d = calloc(1, sizeof(*d));

	if (!d) {
		error_set_nomem(err);
		return NULL;
	}
	d->env = *env;
	register_metrics(d, metrics);
	d->retry = (struct retry){.log = env->log, .failures = env->failures};
	d->ch = clickhouse_new(env->clickhouse, err);
	d->settling = (struct settling){
		.ch = d->ch,
		.settings = &env->config->aggregator,
		.settler = lease_holder(env->lease),
		.is_stopping = is_stopping,
		.turn = env->turn,
		.check_lease = check_lease,
		.on_shortage = on_shortage,
		.on_repeats = on_repeats,
		.arg = d,
	};
	if (d->ch)
		d->pass = day_pass_new(&d->settling, err);
	if (d->pass)
		d->thread = periodic_new(run_days_step, d, err);
	if (!d->thread) {
		day_settler_free(d);
		return NULL;
	}
	return d;
}

int day_settler_start(struct day_settler *d, struct error *err)
{
	return periodic_start(d->thread, err);
}

void day_settler_allow(struct day_settler *d, bool allowed, bool news)
{
	if (atomic_exchange(&d->allowed, allowed) != allowed)
		news = true;
	atomic_store(&d->known, true);
	if (allowed && news)
		periodic_wake(d->thread);
}

void day_settler_end(struct day_settler *d)
{
	periodic_end(d->thread);
}

void day_settler_free(struct day_settler *d)
{
	if (!d)
		return;
	periodic_free(d->thread);
	day_pass_free(d->pass);
	clickhouse_free(d->ch);
	free(d);
}
