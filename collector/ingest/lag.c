#include "collector/ingest/lag.h"

enum {
	ASK_EVERY_MS = 5000,
	ASK_MS = 200,
};

static void on_end(void *arg, const char *topic, int32_t partition, int64_t end)
{
	struct slot *slot = slots_find(arg, topic, partition);

	if (slot)
		slot->log_end = end;
}

/* What was heard stays until something is fetched again. */
static void ask(struct lag *l, struct slots *slots, int64_t now)
{
	struct error err = {0};
	bool any = false;

	for (size_t i = 0; i < slots->count; i++) {
		struct slot *slot = slots->items[i];

		any = any || (slot->held && slot->shut);
		if (!slot->held || !slot->shut)
			slot->log_end = 0;
	}
	if (!any || now < l->asked_at + ASK_EVERY_MS)
		return;
	l->asked_at = now;
	/* An answer that does not come leaves the metric as it is. */
	(void)kafka_consumer_ask_ends(l->consumer, ASK_MS, on_end, slots, &err);
}

static void measure(const struct lag *l, struct slot *slot)
{
	int64_t from = slot->placed ? (int64_t)slot->position : -1;
	int64_t end = kafka_consumer_log_end(l->consumer, slot->topic,
					     slot->partition);

	if (slot->log_end > end)
		end = slot->log_end;
	if (!slot->held || end < 0 || from < 0)
		return;
	metric_set(slot->lag, end > from ? end - from : 0);
}

void lag_look(struct lag *l, struct slots *slots, int64_t now)
{
	ask(l, slots, now);
	for (size_t i = 0; i < slots->count; i++)
		measure(l, slots->items[i]);
}
