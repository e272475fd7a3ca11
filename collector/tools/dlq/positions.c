#include "collector/tools/dlq/positions.h"

#include <stdlib.h>
#include <string.h>

#include "collector/tools/offset_set.h"

struct position_group {
	char *topic;
	int32_t partition;
	struct offset_set offsets;
};

void positions_free(struct positions *p)
{
	for (size_t i = 0; i < p->count; i++) {
		offset_set_free(&p->groups[i].offsets);
		free(p->groups[i].topic);
	}
	free(p->groups);
	*p = (struct positions){0};
}

/* A linear search is enough: there are few topics and partitions. */
static struct position_group *find_group(const struct positions *p,
					 const char *topic, int32_t partition)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->groups[i].partition == partition &&
		    !strcmp(p->groups[i].topic, topic))
			return &p->groups[i];
	return NULL;
}

static struct position_group *add_group(struct positions *p, const char *topic,
					int32_t partition)
{
	size_t room = p->room ? p->room * 2 : 8;
	struct position_group *groups = p->groups;
	struct position_group group = {.partition = partition};

	if (!groups || p->count == p->room) {
		groups = realloc(groups, room * sizeof(*groups));
		if (!groups)
			return NULL;
		p->groups = groups;
		p->room = room;
	}
	group.topic = strdup(topic);
	if (!group.topic)
		return NULL;
	groups[p->count] = group;
	return &groups[p->count++];
}

int positions_add(struct positions *p, const char *topic, int32_t partition,
		  uint64_t offset, struct error *err)
{
	struct position_group *group = find_group(p, topic, partition);

	if (!group)
		group = add_group(p, topic, partition);
	if (!group)
		return error_set_nomem(err);
	return offset_set_add(&group->offsets, offset, err);
}

bool positions_have(const struct positions *p, const char *topic,
		    int32_t partition, uint64_t offset)
{
	const struct position_group *group = find_group(p, topic, partition);

	return group && offset_set_has(&group->offsets, offset);
}
