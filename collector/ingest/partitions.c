#include "collector/ingest/partitions.h"

#include <stdlib.h>
#include <string.h>

void partitions_release(struct partitions *all)
{
	for (size_t i = 0; i < all->count; i++)
		partition_free(all->items[i]);
	for (size_t i = 0; i < all->topic_count; i++) {
		free(all->topics[i].name);
		free(all->topics[i].items);
	}
	free(all->items);
	free(all->topics);
	*all = (struct partitions){0};
}

/* A linear search is enough: there are two topics. */
static struct partitions_topic *find_topic(const struct partitions *all,
					   const char *name)
{
	for (size_t i = 0; i < all->topic_count; i++)
		if (!strcmp(all->topics[i].name, name))
			return &all->topics[i];
	return NULL;
}

struct partition *partitions_find(const struct partitions *all,
				  const char *topic, int32_t number)
{
	const struct partitions_topic *t = find_topic(all, topic);
	size_t at = (size_t)number;

	return t && at < t->count ? t->items[at] : NULL;
}

static struct partitions_topic *add_topic(struct partitions *all,
					  const char *name)
{
	struct partitions_topic *t = realloc(
		all->topics, (all->topic_count + 1) * sizeof(*all->topics));

	if (!t)
		return NULL;
	all->topics = t;
	t += all->topic_count;
	*t = (struct partitions_topic){.name = strdup(name)};
	if (!t->name)
		return NULL;
	all->topic_count++;
	return t;
}

/* Makes room for one more, and returns the partition's place. */
static struct partition **make_room(struct partitions *all,
				    struct partitions_topic *t, size_t number)
{
	struct partition **items;
	size_t cap = all->cap ? all->cap * 2 : 16;

	if (all->count == all->cap) {
		items = realloc(all->items, cap * sizeof(*items));
		if (!items)
			return NULL;
		all->items = items;
		all->cap = cap;
	}
	if (t->items && number < t->count)
		return &t->items[number];
	items = realloc(t->items, (number + 1) * sizeof(*items));
	if (!items)
		return NULL;
	t->items = items;
	while (t->count <= number)
		items[t->count++] = NULL;
	return &items[number];
}

struct partition *partitions_add(struct partitions *all, const char *topic,
				 int32_t number, struct metrics *metrics,
				 struct error *err)
{
	struct partitions_topic *t = find_topic(all, topic);
	struct partition *p = partitions_find(all, topic, number);
	struct partition **room;

	if (p)
		return p;
	if (!t)
		t = add_topic(all, topic);
	room = t ? make_room(all, t, (size_t)number) : NULL;
	if (room)
		p = partition_new(t->name, number, metrics);
	if (!p) {
		error_set_nomem(err);
		return NULL;
	}
	all->items[all->count++] = *room = p;
	return p;
}

size_t partitions_assigned(const struct partitions *all)
{
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++)
		count += partition_is_assigned(all->items[i]);
	return count;
}

size_t partitions_bytes(const struct partitions *all)
{
	size_t bytes = 0;

	for (size_t i = 0; i < all->count; i++)
		bytes += partition_bytes(all->items[i]);
	return bytes;
}
