#include "collector/collector_metrics.h"

#include <stdio.h>

#include "common/clock.h"

#define NAME(what) "shortloop_collector_" what

static void register_tables(struct collector_metrics *cm, struct metrics *m)
{
	for (int t = 0; t < SINK_TABLE_COUNT; t++) {
		char labels[64];

		snprintf(labels, sizeof(labels), "table=\"%s\"",
			 sink_table_name((enum sink_table)t));
		cm->rows[t] = metrics_counter(m, NAME("inserted_rows_total"),
					      labels, "Rows inserted");
		cm->batches[t] = metrics_counter(m, NAME("batches_total"),
						 labels, "Batches inserted");
		if (t == SINK_CLICKS || t == SINK_LINKS)
			cm->parts[t] =
				metrics_counter(m, NAME("parts_total"), labels,
						"Parts inserts made");
		cm->failures[t] =
			metrics_counter(m, NAME("insert_failures_total"),
					labels, "Tries to insert that failed");
		cm->seconds[t] = metrics_histogram(
			m, NAME("insert_seconds"), labels,
			"How long a successful insert took",
			metrics_latency_bounds, metrics_latency_bound_count);
	}
}

static void register_cache(struct metrics *m, const char *labels,
			   struct metric **hits, struct metric **misses,
			   struct metric **bytes, int64_t bytes_max)
{
	*hits = metrics_gauge(m, NAME("cache_hits"), labels,
			      "Look-ups answered from the cache");
	*misses = metrics_gauge(m, NAME("cache_misses"), labels,
				"Look-ups that were made");
	*bytes = metrics_gauge(m, NAME("cache_bytes"), labels,
			       "Memory of the cache");
	metric_set(metrics_gauge(m, NAME("cache_bytes_max"), labels,
				 "Bound of the cache's memory"),
		   bytes_max);
}

static void register_fixed_gauge(struct metrics *m, const char *name,
				 int64_t value, const char *help)
{
	metric_set(metrics_gauge(m, name, NULL, help), value);
}

static void register_bounds(struct collector_metrics *cm, struct metrics *m,
			    const struct collector_settings *settings,
			    const struct memory_shares *shares)
{
	cm->buffered = metrics_gauge(m, NAME("buffered_bytes"), NULL,
				     "Rows held, not yet inserted");
	register_fixed_gauge(m, NAME("buffered_bytes_max"),
			     (int64_t)shares->rows, "Bound of the rows held");
	cm->memory = metrics_gauge(m, NAME("memory_bytes"), NULL,
				   "Memory in use, without geo files");
	register_fixed_gauge(m, NAME("memory_bytes_max"), settings->memory,
			     "Setting collector.memory");
	cm->pressed = metrics_counter(m, NAME("memory_pressed_total"), NULL,
				      "Times reading stopped because memory "
				      "was nearly used up");
	cm->fetched = metrics_gauge(m, NAME("fetched_events"), NULL,
				    "Events fetched ahead");
	register_fixed_gauge(m, NAME("fetched_events_max"),
			     (int64_t)shares->fetch_events,
			     "No more are fetched beyond this number");
	cm->partitions =
		metrics_gauge(m, NAME("partitions"), NULL, "Partitions held");
	cm->paused = metrics_gauge(m, NAME("paused_partitions"), NULL,
				   "Partitions that may bring no more for "
				   "now");
	register_fixed_gauge(
		m, NAME("parts_per_second_max"), settings->parts_per_second,
		"Setting collector.parts_per_second, of all collectors");
}

static void register_verdicts(struct collector_metrics *cm, struct metrics *m)
{
	char labels[64];

	for (int k = 0; k < VERDICT_KIND_COUNT; k++) {
		snprintf(labels, sizeof(labels), "verdict=\"%s\"",
			 verdict_name((enum verdict_kind)k));
		cm->verdicts[k] =
			metrics_counter(m, NAME("verdicts_total"), labels,
					"Clicks by what they were taken for");
	}
}

void collector_metrics_register(struct collector_metrics *cm, struct metrics *m,
				const struct collector_settings *settings,
				const struct memory_shares *shares)
{
	cm->consumed = metrics_counter(m, NAME("consumed_total"), NULL,
				       "Events taken from Kafka");
	cm->dead_lettered =
		metrics_counter(m, NAME("dead_lettered_total"), NULL,
				"Events that could not be decoded");
	cm->lost = metrics_counter(m, NAME("dead_letters_refused_total"), NULL,
				   "Events that fit no topic either");
	register_tables(cm, m);
	cm->commit_failures =
		metrics_counter(m, NAME("commit_failures_total"), NULL,
				"Commits of offsets that failed");
	cm->lost_offsets = metrics_counter(
		m, NAME("lost_offsets_total"), NULL,
		"Offsets that Kafka no longer held, without a row");
	cm->passed_offsets =
		metrics_counter(m, NAME("passed_offsets_total"), NULL,
				"Offsets without a row that were passed over: "
				"unreadable, or named by an operator");
	cm->exactly_once =
		metrics_gauge(m, NAME("exactly_once"), NULL,
			      "1 when the server promises to know blocks "
			      "again");
	cm->clock_ahead = metrics_gauge(
		m, NAME("clock_ahead_seconds"), NULL,
		"How far this host's clock is ahead of ClickHouse's");
	cm->reloads = metrics_counter(m, NAME("reloads_total"), NULL,
				      "Times the reference files were read "
				      "again");
	cm->reload_failures =
		metrics_counter(m, NAME("reload_failures_total"), NULL,
				"Times they were refused and the old kept");
	register_bounds(cm, m, settings, shares);
	cm->breaker_open = metrics_gauge(m, NAME("breaker_open"), NULL,
					 "1 while inserting waits for its next "
					 "try");
	metric_set(metrics_gauge(m, NAME("lag_seconds_max"), NULL,
				 "Setting collector.max_lag"),
		   settings->max_lag / CLOCK_SECOND);
	register_cache(m, "cache=\"user_agent\"", &cm->ua_hits, &cm->ua_misses,
		       &cm->ua_bytes, settings->ua_cache);
	cm->geo_files = metrics_gauge(m, NAME("geo_bytes"), NULL,
				      "Copies of the geo files");
	register_cache(m, "cache=\"geo\"", &cm->geo_hits, &cm->geo_misses,
		       &cm->geo_bytes, settings->geo_cache);
	register_verdicts(cm, m);
	cm->late = metrics_counter(m, NAME("late_events_total"), NULL,
				   "Clicks that Kafka stored more than "
				   "clicks.edge_delay after their time");
}

void collector_metrics_caches(struct collector_metrics *cm,
			      const struct enricher_stats *stats)
{
	metric_set(cm->ua_hits, (int64_t)stats->agents.hits);
	metric_set(cm->ua_misses, (int64_t)stats->agents.misses);
	metric_set(cm->ua_bytes, (int64_t)stats->agents.bytes);
	metric_set(cm->geo_hits, (int64_t)stats->places.hits);
	metric_set(cm->geo_misses, (int64_t)stats->places.misses);
	metric_set(cm->geo_bytes, (int64_t)stats->places.bytes);
	metric_set(cm->geo_files, (int64_t)stats->geo_bytes);
	for (int k = 0; k < VERDICT_KIND_COUNT; k++) {
		metric_add(cm->verdicts[k],
			   stats->verdicts[k] - cm->verdicts_told[k]);
		cm->verdicts_told[k] = stats->verdicts[k];
	}
	metric_add(cm->late, stats->late - cm->late_told);
	cm->late_told = stats->late;
}
