#include "collector/ingest/backpressure.h"

#include <stdio.h>

#include "collector/memory.h"
#include "common/clock.h"

enum {
	MEASURE_MS = 50,
	TRIM_MS = 500,	 /* it takes some ms */
	PRESS_MS = 1000, /* so long it takes until less is used */
};

static void turn(struct gates *g, struct slot *slot, bool shut)
{
	struct error err = {0};

	if (slot->shut == shut)
		return;
	if (kafka_consumer_pause(g->consumer, slot->topic, slot->partition,
				 shut, &err) == 0)
		slot->shut = shut;
	else
		log_warn(g->log, "partition neither paused nor resumed",
			 log_err(&err));
}

static bool must_shut(const struct gates *g, const struct slot *slot)
{
	const struct batch *b = &slot->batch;

	if (slot->state != SLOT_READING)
		return true;
	/* It is sent when it is whole, not when it is full. */
	if (slot->repeat.named)
		return false;
	return schedule_is_crammed(g->schedule, b) ||
	       valve_shuts(&g->valve, b->rows.len, slot->shut);
}

/* Of what malloc keeps without need: that looks like being used. */
static size_t in_use_after_trim(struct gates *g, int64_t now)
{
	g->trimmed_at = now;
	memory_trim();
	return memory_in_use();
}

/* What the blocks add up to is not all there is: answers of brokers, unpacked,
 * can be larger than was reckoned with. */
static void measure(struct gates *g, int64_t now)
{
	size_t used;

	if (now < g->measured_at + MEASURE_MS)
		return;
	g->measured_at = now;
	used = memory_in_use();
	if (used > g->memory / 4 * 3 && now >= g->trimmed_at + TRIM_MS)
		used = in_use_after_trim(g, now);
	g->used = used;
	metric_set(g->metrics->memory, (int64_t)used);
	if (used > g->memory / 16 * 15) {
		if (now < g->pressed_at + PRESS_MS)
			return;
		g->pressed_at = now;
		metric_add(g->metrics->pressed, 1);
		valve_press(&g->valve);
	} else if (used < g->memory / 4 * 3) {
		valve_relax(&g->valve);
	}
}

void gates_look(struct gates *g, const struct slots *slots, int64_t now)
{
	size_t held = 0, shut = 0;

	for (size_t i = 0; i < slots->count; i++)
		held += slots->items[i]->held;
	valve_look(&g->valve, slots_bytes(slots), held);
	measure(g, now);
	for (size_t i = 0; i < slots->count; i++) {
		struct slot *slot = slots->items[i];

		if (!slot->held)
			continue;
		turn(g, slot, must_shut(g, slot));
		slot->hurry = slot->shut &&
			      valve_hurries(&g->valve, slot->batch.rows.len);
		shut += slot->shut;
	}
	metric_set(g->metrics->partitions, (int64_t)held);
	metric_set(g->metrics->paused, (int64_t)shut);
	g->shut = shut;
}

static size_t mib(size_t bytes)
{
	return bytes >> 20;
}

const char *gates_text(const struct gates *g, char text[GATES_TEXT_MAX])
{
	const struct valve *v = &g->valve;

	snprintf(text, GATES_TEXT_MAX,
		 "%zu of %zu partitions paused, %zu of %zu MiB of rows held, "
		 "%zu of %zu MiB of memory in use",
		 g->shut, v->partitions, mib(v->held), mib(v->bound),
		 mib(g->used), mib(g->memory));
	return text;
}

void gates_took(struct gates *g, const struct slots *slots, struct slot *slot,
		size_t before)
{
	bool was_full = g->valve.full;

	valve_add(&g->valve, slot->batch.rows.len - before);
	if (g->valve.full && !was_full)
		gates_look(g, slots, clock_monotonic_ms());
	else if (!slot->shut && must_shut(g, slot))
		turn(g, slot, true);
}
