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

/* The ends of all partitions held, as offsets in the list; NULL: none is. */
static rd_kafka_topic_partition_list_t *
ask_ends(struct kafka_consumer *c, int timeout_ms, rd_kafka_resp_err_t *ret_err)
{
	rd_kafka_topic_partition_list_t *list = NULL;

	*ret_err = rd_kafka_assignment(c->rk, &list);
	if (*ret_err || !list)
		return NULL;
	for (int i = 0; i < list->cnt; i++)
		list->elems[i].offset = RD_KAFKA_OFFSET_END;
	if (list->cnt)
		*ret_err = rd_kafka_offsets_for_times(c->rk, list, timeout_ms);
	return list;
}

int kafka_consumer_ask_ends(struct kafka_consumer *c, int timeout_ms,
			    kafka_log_end_fn *fn, void *arg, struct error *err)
{
	rd_kafka_resp_err_t code;
	rd_kafka_topic_partition_list_t *list = ask_ends(c, timeout_ms, &code);

	for (int i = 0; !code && list && i < list->cnt; i++) {
		const rd_kafka_topic_partition_t *p = &list->elems[i];

		if (!p->err && p->offset >= 0)
			fn(arg, p->topic, p->partition, p->offset);
	}
	if (list)
		rd_kafka_topic_partition_list_destroy(list);
	if (!code)
		return 0;
	return error_set_retriable(err, ERROR_REMOTE, "kafka: ends of logs: %s",
				   rd_kafka_err2str(code));
}

/*
 * Any request to a broker wakes the thread that asks it for records.  This one
 * is small, and nobody waits for its answer.
 */
static void wake_brokers(struct kafka_consumer *c)
{
	rd_kafka_resp_err_t code;
	rd_kafka_topic_partition_list_t *list = ask_ends(c, 0, &code);

	if (list)
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
