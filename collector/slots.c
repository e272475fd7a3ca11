#include "collector/slots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void slot_clear(struct slot *slot)
{
	if (slot->sent && slot->step != STEP_UNDER_WAY)
		delivery_free(slot->sent);
	slot->sent = NULL;
	slot->step = STEP_NONE;
	slot->repeat = (struct intent){0};
	slot->next_offset = slot->reread_from = -1;
	slot->commit_due = false;
	atomic_store(&slot->dead_letter_failed, false);
	ranges_release(&slot->stored);
	batch_reset(&slot->batch);
}

static void slot_free(struct slot *slot)
{
	slot_clear(slot);
	batch_release(&slot->batch);
	batch_release(&slot->spare);
	free(slot->topic);
	free(slot);
}

void slots_release(struct slots *s)
{
	for (size_t i = 0; i < s->count; i++)
		slot_free(s->items[i]);
	free(s->items);
	*s = (struct slots){0};
}

struct slot *slots_find(const struct slots *s, const char *topic,
			int32_t partition)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->items[i]->partition == partition &&
		    !strcmp(s->items[i]->topic, topic))
			return s->items[i];
	return NULL;
}

static struct slot *slot_new(const char *topic, int32_t partition,
			     struct metrics *metrics)
{
	struct slot *slot = calloc(1, sizeof(*slot));
	char labels[300];

	if (!slot)
		return NULL;
	slot->topic = strdup(topic);
	if (!slot->topic) {
		free(slot);
		return NULL;
	}
	slot->partition = partition;
	slot->next_offset = -1;
	slot->reread_from = -1;
	snprintf(labels, sizeof(labels), "topic=\"%s\",partition=\"%d\"", topic,
		 (int)partition);
	slot->lag = metrics_gauge(metrics, "shortloop_collector_lag_events",
				  labels, "Events in Kafka not yet taken");
	slot->stopped =
		metrics_gauge(metrics, "shortloop_collector_stopped", labels,
			      "1 while it waits for `collector epoch`");
	return slot;
}

struct slot *slots_add(struct slots *s, const char *topic, int32_t partition,
		       struct metrics *metrics, struct error *err)
{
	struct slot *slot = slots_find(s, topic, partition);

	if (slot)
		return slot;
	if (s->count == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 16;
		struct slot **items = realloc(s->items, cap * sizeof(*items));

		if (!items) {
			error_set_nomem(err);
			return NULL;
		}
		s->items = items;
		s->cap = cap;
	}
	slot = slot_new(topic, partition, metrics);
	if (slot)
		s->items[s->count++] = slot;
	else
		error_set_nomem(err);
	return slot;
}

static size_t slot_bytes(const struct slot *slot)
{
	return slot->batch.rows.len +
	       (slot->sent ? slot->sent->batch.rows.len : 0);
}

size_t slots_bytes(const struct slots *s)
{
	size_t bytes = 0;

	for (size_t i = 0; i < s->count; i++)
		bytes += slot_bytes(s->items[i]);
	return bytes;
}
