#include "aggregator/settle/hour_settler.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregator/migrate/migrate.h"
#include "aggregator/settle/day_settler.h"
#include "aggregator/settle/hour_pass.h"
#include "aggregator/settle/lease.h"
#include "aggregator/settle/retry.h"
#include "aggregator/settle/waiting.h"
#include "aggregator/zone/civil.h"
#include "common/clock.h"
#include "common/periodic.h"

#define AHEAD_MAX CLOCK_MINUTE

struct hour_settler_health {
	struct health_check *clickhouse, *tables, *redis;
	struct health_check *settled; /* hours and days that are held back */
	struct health_check *clocks;
	struct health_check *topics; /* topics that complete_until waits for */
};

struct hour_settler_metrics {
	struct metric *held_hours, *held_days, *short_hours;
	struct metric *clock_ahead, *clock_went_back, *late_hours;
	struct metric *hours, *hours_added, *lease_owned, *seconds;
	struct metric *complete_until;
	struct metric *waiting[WAITING_UNITS], *oldest[WAITING_UNITS];
	struct metric *per_hour[WAITING_UNITS], *done_at[WAITING_UNITS];
};

struct hour_settler {
	const struct aggregator_config *config;
	struct log *log;
	struct periodic *thread;
	struct hour_settler_health health;
	struct hour_settler_metrics metrics;
	pthread_mutex_t turn; /* between hours and days */
	struct day_settler *days;
	struct clickhouse *ch;
	/* For statements that may take as long as settle_timeout allows. */
	struct clickhouse_config patient;
	struct clickhouse *patient_ch;
	struct lease *lease;
	bool lease_owned;
	struct hour_pass *pass;
	bool clock_reported; /* a clock that is ahead was logged */
	char silent_reported[TOPIC_MAX];
	bool waits; /* hours or days waited when that was read last */
	struct retry retry;
};

static bool is_stopping(void *arg)
{
	struct hour_settler *s = arg;

	return periodic_should_stop(s->thread, 0);
}

static void report_dependency(struct hour_settler *s,
			      struct health_check *check, const char *what,
			      int status, const struct error *err)
{
	if (status == 0 && health_up(check))
		log_info(s->log, "ready", log_str("dependency", what));
	if (status < 0 && health_down(check, err->text))
		log_warn(s->log, "not ready", log_str("dependency", what),
			 log_err(err));
}

static int check_clickhouse(struct hour_settler *s, struct error *err)
{
	int status = clickhouse_ping(s->ch, err);

	report_dependency(s, s->health.clickhouse, "clickhouse", status, err);
	if (status < 0)
		return -1;
	status = migrate_check(s->ch, err);
	report_dependency(s, s->health.tables, "tables", status, err);
	return status;
}

static int take_lease(struct hour_settler *s, struct error *err)
{
	bool owned = false;
	int status = lease_acquire(s->lease, &owned, err);

	report_dependency(s, s->health.redis, "redis", status, err);
	if (owned != s->lease_owned)
		log_info(s->log, owned ? "settling" : "not settling",
			 log_str("lease", owned ? "ours" : "not ours"));
	s->lease_owned = owned;
	metric_set(s->metrics.lease_owned, owned);
	return status;
}

static void on_shortage(void *arg, const struct shortage *what)
{
	struct hour_settler *s = arg;
	char start[CIVIL_NAME_MAX];

	if (what->day)
		civil_day_name(what->start, start);
	else
		civil_hour_name(what->start, start);
	if (!what->held)
		metric_add(s->metrics.short_hours, 1);
	log_write(s->log, what->held ? LOG_ERROR : LOG_WARN,
		  what->held
			  ? "held back: rows that were settled are gone; "
			    "'aggregator settle --allow-fewer' accepts it"
			  : "settled from fewer rows than collectors reported; "
			    "see 'collector verify'",
		  log_str(what->day ? "day" : "hour", start),
		  log_int("before", (int64_t)what->before),
		  log_int("reported", (int64_t)what->reported),
		  log_int("rows", (int64_t)what->rows), LOG_END);
}

static void on_repeats(void *arg, const struct repeats_removed *removed)
{
	struct hour_settler *s = arg;

	day_settler_report_repeats(s->days, removed);
}

/* Other hours and days are still settled: the program stays ready, and the
 * health check shows what is held back. */
static void report_held(struct hour_settler *s, const struct held_back *held)
{
	char text[160];

	metric_set(s->metrics.held_hours, (int64_t)held->hours);
	metric_set(s->metrics.held_days, (int64_t)held->days);
	if (!held->hours && !held->days) {
		health_up(s->health.settled);
		return;
	}
	snprintf(text, sizeof(text),
		 "%" PRIu64 " hours and %" PRIu64
		 " days are held back: rows that were settled are gone; see "
		 "'aggregator settle'",
		 held->hours, held->days);
	health_say(s->health.settled, text);
}

/* Times beyond ClickHouse's clock count only up to that clock. */
static void report_ahead(struct hour_settler *s,
			 const struct pass_clocks *clocks)
{
	bool ahead = clocks->ahead_ms > AHEAD_MAX;
	char text[160];

	metric_set(s->metrics.clock_ahead, clocks->ahead_ms / 1000);
	if (!ahead) {
		health_up(s->health.clocks);
		s->clock_reported = false;
		return;
	}
	snprintf(text, sizeof(text),
		 "times in ingest_progress lie up to %lld s beyond "
		 "ClickHouse's clock; they count up to that",
		 (long long)clocks->ahead_ms / 1000);
	health_say(s->health.clocks, text);
	if (!s->clock_reported)
		log_warn(s->log,
			 "a clock is ahead: Kafka's, a collector's, "
			 "or ClickHouse's went back",
			 log_int("seconds", clocks->ahead_ms / 1000));
	s->clock_reported = true;
}

static void report_clocks(struct hour_settler *s,
			  const struct pass_clocks *clocks)
{
	report_ahead(s, clocks);
	if (clocks->went_back) {
		metric_add(s->metrics.clock_went_back, 1);
		log_warn(s->log,
			 "ClickHouse's clock went back, or that of another "
			 "replica is behind by more than half of "
			 "progress_overlap; everything is looked at again");
	}
	if (clocks->late_hours) {
		metric_add(s->metrics.late_hours, clocks->late_hours);
		log_warn(s->log,
			 "blocks came with times that had been read: clocks of "
			 "ClickHouse's replicas differ, or inserts take longer "
			 "than progress_overlap allows for",
			 log_int("hours", (int64_t)clocks->late_hours));
	}
}

/* Only the operator knows whether the topic is late or gone for good. */
static void report_silent(struct hour_settler *s,
			  const struct silent_topic *topic)
{
	char text[TOPIC_MAX + 160], since[RFC3339_TEXT_MAX];

	if (!*topic->name) {
		health_up(s->health.topics);
		*s->silent_reported = '\0';
		return;
	}
	snprintf(text, sizeof(text),
		 "complete_until waits for topic %s, on which no collector has "
		 "reported since %s; see aggregator.retired_topics",
		 topic->name, rfc3339_format(topic->since, since));
	health_say(s->health.topics, text);
	if (strcmp(s->silent_reported, topic->name) != 0)
		log_warn(
			s->log,
			"complete_until waits for a topic that is silent while "
			"others are not: do its collectors run? If none reads "
			"it any more, name it in aggregator.retired_topics",
			log_str("topic", topic->name),
			log_str("silent_since", since));
	snprintf(s->silent_reported, sizeof(s->silent_reported), "%s",
		 topic->name);
}

/* --- a step -----------------------------------------------------------------
 */

static int check_lease(void *arg, struct error *err)
{
	struct hour_settler *s = arg;

	return lease_check(s->lease, err);
}

/* Also reports the work of a pass that failed later. */
static void report_done(struct hour_settler *s,
			const struct hour_pass_result *r, int64_t ms)
{
	metric_add(s->metrics.hours, r->hours);
	metric_add(s->metrics.hours_added, r->hours_added);
	if (r->hours)
		log_debug(s->log, "settled hours",
			  log_int("hours", (int64_t)r->hours),
			  log_int("added", (int64_t)r->hours_added),
			  log_int("ms", ms));
}

static void set_waiting(struct hour_settler *s,
			const struct waiting all[WAITING_UNITS])
{
	s->waits = false;
	for (size_t i = 0; i < WAITING_UNITS; i++) {
		s->waits |= all[i].count > 0;
		metric_set(s->metrics.waiting[i], (int64_t)all[i].count);
		metric_set(s->metrics.oldest[i], all[i].oldest);
		metric_set(s->metrics.per_hour[i], (int64_t)all[i].per_hour);
		metric_set(s->metrics.done_at[i], all[i].done_at / 1000);
	}
}

/* A failure does not stop settling.  Reports that came during the pass wait,
 * too, so its own list does not do. */
static void update_waiting(struct hour_settler *s,
			   const struct hour_pass_result *r)
{
	struct waiting all[WAITING_UNITS];
	struct progress last;
	struct error err = {0};

	if (progress_read_last(s->ch, &last, &err) < 0 ||
	    waiting_read(s->ch, &s->config->aggregator, &last,
			 r->clocks.server_ms, all, &err) < 0)
		log_warn(s->log, "what waits to be settled is not known",
			 log_err(&err));
	else
		set_waiting(s, all);
}

static int run_pass_over_hours(struct hour_settler *s,
			       struct hour_pass_result *ret, struct error *err)
{
	int64_t start = clock_monotonic_ns();
	int status = hour_pass_run(s->pass, ret, err);
	int64_t took = clock_monotonic_ns() - start;

	/* The clocks were compared, even if the pass failed later. */
	if (ret->clocks.server_ms) {
		report_clocks(s, &ret->clocks);
		report_silent(s, &ret->silent);
	}
	report_done(s, ret, took / 1000000);
	if (ret->ended) {
		metric_observe(s->metrics.seconds, (double)took / 1e9);
		metric_set(s->metrics.complete_until,
			   ret->complete_until / 1000);
		report_held(s, &ret->held);
		if (ret->found || s->waits)
			update_waiting(s, ret);
		day_settler_allow(s->days, !ret->more, ret->hours > 0);
	}
	return status < 0 ? error_wrap(err, "settle") : 0;
}

/*
 * The thread repeats these steps:
 *
 *	check ClickHouse --> take the lease --> run a pass
 *	       |                   |                |
 *	       v away              v another's      v
 *	  back off, retry     settle_every     settle_every, or at once
 *	                                       when more is stale
 *
 * Days are settled on a thread of their own (day_settler.h).
 *
 * Returns how long to wait before the next step (ms).
 */
static int64_t run_hours_step(struct hour_settler *s)
{
	struct hour_pass_result result = {0};
	struct error err = {0};
	int status = check_clickhouse(s, &err);

	if (status == 0)
		status = take_lease(s, &err);
	if (status == 0 && s->lease_owned)
		status = run_pass_over_hours(s, &result, &err);
	if (status == 0) {
		s->retry.in_a_row = 0;
		return result.more ? 0 : s->config->aggregator.settle_every;
	}
	return retry_after(&s->retry, &err, is_stopping(s));
}

static int64_t on_step_due(struct periodic *self, void *arg)
{
	(void)self;
	return run_hours_step(arg);
}

static void register_waiting(struct hour_settler *s, struct metrics *m)
{
	char label[32];

	for (size_t i = 0; i < WAITING_UNITS; i++) {
		snprintf(label, sizeof(label), "unit=\"%s\"", waiting_names[i]);
		s->metrics.waiting[i] = metrics_gauge(
			m, "shortloop_aggregator_waiting", label,
			"Hours and days that wait to be settled.");
		s->metrics.oldest[i] = metrics_gauge(
			m, "shortloop_aggregator_waiting_oldest_seconds", label,
			"The start of the oldest of them, seconds since 1970; "
			"0: none waits.");
		s->metrics.per_hour[i] = metrics_gauge(
			m, "shortloop_aggregator_settled_per_hour", label,
			"How many past ones were settled in the last ten "
			"minutes, by the hour; 0: not known.");
		s->metrics.done_at[i] = metrics_gauge(
			m, "shortloop_aggregator_waiting_done_seconds", label,
			"When none will wait at that rate, seconds since 1970; "
			"0: none waits, or not known.");
	}
}

static void register_metrics(struct hour_settler *s, struct metrics *m)
{
	register_waiting(s, m);
	s->metrics.hours =
		metrics_counter(m, "shortloop_aggregator_hours_total", NULL,
				"Hours settled, repetitions included.");
	s->metrics.hours_added = metrics_counter(
		m, "shortloop_aggregator_hours_added_total", NULL,
		"Hours settled by what arrived, without reading the rest.");
	s->retry.failures = metrics_counter(
		m, "shortloop_aggregator_settle_failures_total", NULL,
		"Passes that failed, also for a dependency that was away.");
	s->metrics.lease_owned =
		metrics_gauge(m, "shortloop_aggregator_lease_owned", NULL,
			      "1 while this aggregator holds the lease.");
	s->metrics.complete_until = metrics_gauge(
		m, "shortloop_aggregator_complete_until_seconds", NULL,
		"The watermark, seconds since 1970; 0 when not known.");
	s->metrics.held_hours = metrics_gauge(
		m, "shortloop_aggregator_held_back_hours", NULL,
		"Hours not settled again because rows of them are gone.");
	s->metrics.held_days = metrics_gauge(
		m, "shortloop_aggregator_held_back_days", NULL,
		"Days not settled again because rows of them are gone.");
	s->metrics.short_hours = metrics_counter(
		m, "shortloop_aggregator_short_hours_total", NULL,
		"Hours first settled from fewer rows than collectors "
		"reported.");
	s->metrics.clock_ahead = metrics_gauge(
		m, "shortloop_aggregator_clock_ahead_seconds", NULL,
		"How far times reported in the last ten minutes lie beyond "
		"ClickHouse's clock.");
	s->metrics.clock_went_back = metrics_counter(
		m, "shortloop_aggregator_clock_went_back_total", NULL,
		"Times that ClickHouse's clock went back by more than half of "
		"progress_overlap.");
	s->metrics.late_hours = metrics_counter(
		m, "shortloop_aggregator_late_hours_total", NULL,
		"Hours that only a recheck found to be stale.");
	s->metrics.seconds = metrics_histogram(
		m, "shortloop_aggregator_settle_seconds", NULL,
		"How long a pass over hours took.", metrics_latency_bounds,
		metrics_latency_bound_count);
}

static int make_passes(struct hour_settler *s, struct metrics *metrics,
		       struct error *err)
{
	const struct settling settling = {
		.ch = s->patient_ch,
		.settings = &s->config->aggregator,
		.settler = lease_holder(s->lease),
		.is_stopping = is_stopping,
		.turn = &s->turn,
		.check_lease = check_lease,
		.on_shortage = on_shortage,
		.on_repeats = on_repeats,
		.arg = s,
	};
	const struct day_settler_env env = {
		.config = s->config,
		.clickhouse = &s->patient,
		.log = s->log,
		.lease = s->lease,
		.turn = &s->turn,
		.failures = s->retry.failures,
		.on_shortage = on_shortage,
		.arg = s,
	};

	s->pass = hour_pass_new(&settling, err);
	s->days = s->pass ? day_settler_new(&env, metrics, err) : NULL;
	return s->days ? 0 : -1;
}

struct hour_settler *hour_settler_new(const struct aggregator_config *config,
				      struct log *log, struct metrics *metrics,
				      struct health *health, struct error *err)
{
	struct hour_settler *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->config = config;
	s->log = log;
	s->retry.log = log;
	s->health.clickhouse = health_register(health, "clickhouse");
	s->health.tables = health_register(health, "tables");
	s->health.redis = health_register(health, "redis");
	s->health.clocks = health_register(health, "clocks");
	health_up(s->health.clocks);
	s->health.topics = health_register(health, "topics");
	health_up(s->health.topics);
	s->health.settled = health_register(health, "settled");
	health_up(s->health.settled);
	register_metrics(s, metrics);
	pthread_mutex_init(&s->turn, NULL);
	s->ch = clickhouse_new(&config->clickhouse, err);
	s->patient = config->clickhouse;
	s->patient.query_timeout = config->aggregator.settle_timeout;
	if (s->ch)
		s->patient_ch = clickhouse_new(&s->patient, err);
	if (s->patient_ch)
		s->lease =
			lease_new(&config->redis, config->clickhouse.database,
				  config->aggregator.lease, err);
	if (!s->lease || make_passes(s, metrics, err) < 0) {
		hour_settler_free(s);
		return NULL;
	}
	return s;
}

int hour_settler_start(struct hour_settler *s, struct error *err)
{
	s->thread = periodic_new(on_step_due, s, err);
	if (!s->thread || periodic_start(s->thread, err) < 0 ||
	    day_settler_start(s->days, err) < 0)
		return error_wrap(err, "settler");
	return 0;
}

void hour_settler_free(struct hour_settler *s)
{
	if (!s)
		return;
	/* Both threads are asked to end before either is joined: a running
	 * statement may take long. */
	if (s->days)
		day_settler_end(s->days);
	periodic_free(s->thread);
	day_settler_free(s->days);
	if (s->lease_owned)
		lease_release(s->lease);
	hour_pass_free(s->pass);
	pthread_mutex_destroy(&s->turn);
	lease_free(s->lease);
	clickhouse_free(s->patient_ch);
	clickhouse_free(s->ch);
	free(s);
}
