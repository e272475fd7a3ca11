#include "collector/ingest/backpressure.h"

#include <stdio.h>

#include "collector/memory.h"
#include "common/clock.h"

enum {
	MEASURE_MS = 50,
	TRIM_MS = 500,	   /* a trim takes some ms */
	TIGHTEN_MS = 1000, /* memory use needs this long to go down */
};

static void set_paused(struct backpressure *b, struct partition *p, bool paused)
{
	struct error err = {0};

	if (p->paused == paused)
		return;
	if (kafka_consumer_pause(b->consumer, p->topic, p->number, paused,
				 &err) == 0)
		p->paused = paused;
	else
		log_warn(b->log, "partition neither paused nor resumed",
			 log_err(&err));
}

static bool must_pause(const struct backpressure *b, const struct partition *p)
{
	if (p->state != PARTITION_READING || p->hold.on)
		return true;
	/* A batch that is repeated is sent when it is whole, not when it is
	 * full. */
	if (p->repeat.has_batch)
		return false;
	return schedule_is_over_limit(b->schedule, &p->filling) ||
	       row_budget_pauses(&b->budget, batch_bytes(&p->filling),
				 p->paused);
}

/* malloc may keep freed memory, which looks like memory in use: it is trimmed
 * first. */
static size_t in_use_after_trim(struct backpressure *b, int64_t now)
{
	b->trimmed_at = now;
	memory_trim();
	return memory_in_use();
}

/* The process can use more than the batches add up to: unpacked answers of
 * brokers can be larger than the estimate. */
static void measure_memory(struct backpressure *b, int64_t now)
{
	size_t used;

	if (now < b->measured_at + MEASURE_MS)
		return;
	b->measured_at = now;
	used = memory_in_use();
	if (used > b->memory / 4 * 3 && now >= b->trimmed_at + TRIM_MS)
		used = in_use_after_trim(b, now);
	b->used = used;
	metric_set(b->metrics->memory, (int64_t)used);
	if (used > b->memory / 16 * 15) {
		if (now < b->tightened_at + TIGHTEN_MS)
			return;
		b->tightened_at = now;
		metric_add(b->metrics->pressed, 1);
		row_budget_tighten(&b->budget);
	} else if (used < b->memory / 4 * 3) {
		row_budget_relax(&b->budget);
	}
}

void backpressure_update(struct backpressure *b, const struct partitions *all,
			 int64_t now)
{
	size_t assigned = partitions_assigned(all), paused = 0;

	row_budget_set(&b->budget, partitions_bytes(all), assigned);
	measure_memory(b, now);
	for (size_t i = 0; i < all->count; i++) {
		struct partition *p = all->items[i];

		if (!partition_is_assigned(p))
			continue;
		set_paused(b, p, must_pause(b, p));
		p->urgent = p->paused &&
			    (p->hold.on ||
			     row_budget_is_urgent(&b->budget,
						  batch_bytes(&p->filling)));
		paused += p->paused;
	}
	metric_set(b->metrics->partitions, (int64_t)assigned);
	metric_set(b->metrics->paused, (int64_t)paused);
	b->paused = paused;
}

void backpressure_took(struct backpressure *b, const struct partitions *all,
		       struct partition *p, size_t before)
{
	bool was_full = b->budget.full;

	row_budget_add(&b->budget, batch_bytes(&p->filling) - before);
	if (b->budget.full && !was_full)
		backpressure_update(b, all, clock_monotonic_ms());
	else if (!p->paused && must_pause(b, p))
		set_paused(b, p, true);
}

static size_t bytes_to_mib(size_t bytes)
{
	return bytes >> 20;
}

const char *backpressure_text(const struct backpressure *b,
			      char text[BACKPRESSURE_TEXT_MAX])
{
	const struct row_budget *r = &b->budget;

	snprintf(text, BACKPRESSURE_TEXT_MAX,
		 "%zu of %zu partitions paused, %zu of %zu MiB of rows held, "
		 "%zu of %zu MiB of memory in use",
		 b->paused, r->partitions, bytes_to_mib(r->held),
		 bytes_to_mib(r->bound), bytes_to_mib(b->used),
		 bytes_to_mib(b->memory));
	return text;
}
