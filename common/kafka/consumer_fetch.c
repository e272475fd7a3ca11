/* consumer_fetch.c - what is fetched ahead of the caller. */
#include "common/kafka/consumer_internal.h"

size_t kafka_consumer_fetched(const struct kafka_consumer *c)
{
	return c->queue ? rd_kafka_queue_length(c->queue) : 0;
}

void consumer_fetch_count(struct kafka_consumer *c, size_t len)
{
	/* The mean of the last thousand or so. */
	c->mean_bytes += ((double)len - c->mean_bytes) / 1024;
}

static bool was_plenty(const struct kafka_consumer *c)
{
	double bytes = (double)c->most_fetched * c->mean_bytes;

	return c->most_fetched >= c->options.fetch_events / 2 ||
	       bytes >= (double)c->options.fetch_bytes / 2;
}

/*
 * Any request to a broker wakes the thread that asks it for records.  This one
 * is small, and nobody waits for its answer.
 */
static void wake_brokers(struct kafka_consumer *c)
{
	rd_kafka_topic_partition_list_t *list = NULL;

	if (rd_kafka_assignment(c->rk, &list) || !list)
		return;
	for (int i = 0; i < list->cnt; i++)
		list->elems[i].offset = RD_KAFKA_OFFSET_END;
	if (list->cnt)
		(void)rd_kafka_offsets_for_times(c->rk, list, 0);
	rd_kafka_topic_partition_list_destroy(list);
}

void kafka_consumer_keep_fetching(struct kafka_consumer *c)
{
	size_t now = kafka_consumer_fetched(c);

	if (now > c->most_fetched)
		c->most_fetched = now;
	if (now > c->most_fetched / 2 || !was_plenty(c))
		return;
	c->most_fetched = now;
	wake_brokers(c);
}
