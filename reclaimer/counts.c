#include "reclaimer/counts.h"

#include "common/clock.h"

static struct metric *blocks(struct metrics *metrics, const char *labels)
{
	return metrics_counter(metrics, "shortloop_reclaimer_blocks_total",
			       labels, "Blocks looked at, by what they were.");
}

static void bound(struct metrics *metrics, const char *name, const char *help,
		  int64_t value)
{
	metric_set(metrics_gauge(metrics, name, NULL, help), value);
}

void counts_register(struct counts *counts, struct metrics *metrics,
		     const struct reclaimer_settings *settings)
{
	*counts = (struct counts){
		.freed = blocks(metrics, "result=\"freed\""),
		.live = blocks(metrics, "result=\"live\""),
		.lost = blocks(metrics, "result=\"lost\""),
		.gap = blocks(metrics, "result=\"gap\""),
		.skipped = blocks(metrics, "result=\"skipped\""),
		.sampled = metrics_counter(
			metrics, "shortloop_reclaimer_sampled_blocks_total",
			NULL, "Closed blocks whose links were looked up."),
	};
	bound(metrics, "shortloop_reclaimer_chunk_blocks_max",
	      "Setting reclaimer.chunk.", settings->chunk);
	bound(metrics, "shortloop_reclaimer_lost_blocks_max",
	      "Setting reclaimer.max_lost.", settings->max_lost);
	bound(metrics, "shortloop_reclaimer_lock_ttl_seconds",
	      "Setting reclaimer.lock_ttl.", settings->lock_ttl / CLOCK_SECOND);
}

void counts_next_space(struct counts *counts)
{
	counts->told = (struct tally){0};
}

void counts_update(struct counts *counts, const struct tally *tally)
{
	const struct tally *told = &counts->told;

	metric_add(counts->freed, tally->freed - told->freed);
	metric_add(counts->live, tally->live - told->live);
	metric_add(counts->lost, tally->lost - told->lost);
	metric_add(counts->gap, tally->gap - told->gap);
	metric_add(counts->skipped, tally->skipped - told->skipped);
	metric_add(counts->sampled, tally->sampled - told->sampled);
	counts->told = *tally;
}
