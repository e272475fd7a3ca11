#include "collector/ingest/partition.h"

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
	free(slot);
}

void slots_release(struct slots *s)
{
	for (size_t i = 0; i < s->count; i++)
		slot_free(s->items[i]);
	for (size_t i = 0; i < s->topic_count; i++) {
		free(s->topics[i].name);
		free(s->topics[i].items);
	}
	free(s->items);
	free(s->topics);
	*s = (struct slots){0};
}

/* There are two. */
static struct slots_topic *find_topic(const struct slots *s, const char *name)
{
	for (size_t i = 0; i < s->topic_count; i++)
		if (!strcmp(s->topics[i].name, name))
			return &s->topics[i];
	return NULL;
}

struct slot *slots_find(const struct slots *s, const char *topic,
			int32_t partition)
{
	const struct slots_topic *t = find_topic(s, topic);
	size_t at = (size_t)partition;

	return t && at < t->count ? t->items[at] : NULL;
}

static struct slots_topic *add_topic(struct slots *s, const char *name)
{
	struct slots_topic *t =
		realloc(s->topics, (s->topic_count + 1) * sizeof(*s->topics));

	if (!t)
		return NULL;
	s->topics = t;
	t += s->topic_count;
	*t = (struct slots_topic){.name = strdup(name)};
	if (!t->name)
		return NULL;
	s->topic_count++;
	return t;
}

/* Makes room for one more, and returns that of the partition. */
static struct slot **make_room(struct slots *s, struct slots_topic *t,
			       size_t partition)
{
	struct slot **items;
	size_t cap = s->cap ? s->cap * 2 : 16;

	if (s->count == s->cap) {
		items = realloc(s->items, cap * sizeof(*items));
		if (!items)
			return NULL;
		s->items = items;
		s->cap = cap;
	}
	if (t->items && partition < t->count)
		return &t->items[partition];
	items = realloc(t->items, (partition + 1) * sizeof(*items));
	if (!items)
		return NULL;
	t->items = items;
	while (t->count <= partition)
		items[t->count++] = NULL;
	return &items[partition];
}

static struct slot *slot_new(const char *topic, int32_t partition,
			     struct metrics *metrics)
{
	struct slot *slot = calloc(1, sizeof(*slot));
	char labels[300];

	if (!slot)
		return NULL;
	slot->topic = topic;
	slot->partition = partition;
	slot->next_offset = -1;
	slot->reread_from = -1;
	snprintf(labels, sizeof(labels), "topic=\"%s\",partition=\"%d\"", topic,
		 (int)partition);
	slot->lag =
		metrics_gauge(metrics, "shortloop_collector_lag_events", labels,
			      "Events in Kafka not yet stored and reported");
	slot->stopped =
		metrics_gauge(metrics, "shortloop_collector_stopped", labels,
			      "1 while it waits for `collector epoch`");
	return slot;
}

struct slot *slots_add(struct slots *s, const char *topic, int32_t partition,
		       struct metrics *metrics, struct error *err)
{
	struct slots_topic *t = find_topic(s, topic);
	struct slot *slot = slots_find(s, topic, partition);
	struct slot **place;

	if (slot)
		return slot;
	if (!t)
		t = add_topic(s, topic);
	place = t ? make_room(s, t, (size_t)partition) : NULL;
	if (place)
		slot = slot_new(t->name, partition, metrics);
	if (!slot) {
		error_set_nomem(err);
		return NULL;
	}
	s->items[s->count++] = *place = slot;
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
