/* collector_metrics.h - the metrics of a collector. */
#ifndef COLLECTOR_COLLECTOR_METRICS_H
#define COLLECTOR_COLLECTOR_METRICS_H

#include "collector/collector_config.h"
#include "collector/enrich/enricher.h"
#include "collector/exactly_once/sink.h"
#include "collector/memory.h"
#include "common/metrics/metrics.h"

struct collector_metrics {
	struct metric *consumed;
	struct metric *dead_lettered;
	struct metric *lost; /* dead letters that Kafka rejected */
	struct metric *rows[SINK_TABLE_COUNT];
	struct metric *batches[SINK_TABLE_COUNT];
	struct metric *failures[SINK_TABLE_COUNT];
	struct metric *seconds[SINK_TABLE_COUNT];
	struct metric *commit_failures;
	struct metric *lost_offsets;
	struct metric *passed_offsets;
	struct metric *exactly_once;
	struct metric *clock_ahead;
	struct metric *reloads, *reload_failures;
	struct metric *parts[SINK_TABLE_COUNT]; /* for clicks and links */
	struct metric *buffered;
	struct metric *memory;
	struct metric *pressed;
	struct metric *fetched;
	struct metric *partitions;
	struct metric *paused;
	struct metric *breaker_open;
	struct metric *ua_hits, *ua_misses, *ua_bytes;
	struct metric *geo_hits, *geo_misses, *geo_bytes, *geo_files;
	struct metric *verdicts[VERDICT_KIND_COUNT];
	uint64_t verdicts_told[VERDICT_KIND_COUNT];
	struct metric *late;
	uint64_t late_told;
};

void collector_metrics_register(struct collector_metrics *cm, struct metrics *m,
				const struct collector_settings *settings,
				const struct memory_shares *shares);
void collector_metrics_caches(struct collector_metrics *cm,
			      const struct enricher_stats *stats);

#endif
