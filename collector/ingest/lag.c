#include "collector/ingest/lag.h"

enum {
	ASK_EVERY_MS = 5000,
	ASK_MS = 200,
};

static void on_end(void *arg, const char *topic, int32_t partition, int64_t end)
{
	struct partition *p = partitions_find(arg, topic, partition);

	if (p)
		p->log_end = end;
}

/* What was heard stays until something is fetched again. */
static void ask(struct lag *l, struct partitions *all, int64_t now)
{
	struct error err = {0};
	bool any = false;

	for (size_t i = 0; i < all->count; i++) {
		struct partition *p = all->items[i];

		any = any || (partition_is_assigned(p) && p->paused);
		if (!partition_is_assigned(p) || !p->paused)
			p->log_end = 0;
	}
	if (!any || now < l->asked_at + ASK_EVERY_MS)
		return;
	l->asked_at = now;
	/* An answer that does not come leaves the metric as it is. */
	(void)kafka_consumer_ask_ends(l->consumer, ASK_MS, on_end, all, &err);
}

static void measure(const struct lag *l, struct partition *p)
{
	int64_t from = p->position_known ? (int64_t)p->position : -1;
	int64_t end = kafka_consumer_log_end(l->consumer, p->topic, p->number);

	if (p->log_end > end)
		end = p->log_end;
	if (!partition_is_assigned(p) || end < 0 || from < 0)
		return;
	metric_set(p->lag, end > from ? end - from : 0);
}

void lag_update(struct lag *l, struct partitions *all, int64_t now)
{
	ask(l, all, now);
	for (size_t i = 0; i < all->count; i++)
		measure(l, all->items[i]);
}
