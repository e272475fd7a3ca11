#include "common/kafka/consumer_offsets.h"

#include "common/kafka/consumer_internal.h"

int64_t kafka_consumer_log_end(struct kafka_consumer *c, const char *topic,
			       int32_t partition)
{
	int64_t low = -1, high = -1;

	if (rd_kafka_get_watermark_offsets(c->rk, topic, partition, &low,
					   &high))
		return -1;
	return high;
}

int64_t kafka_consumer_log_start(struct kafka_consumer *c, const char *topic,
				 int32_t partition)
{
	int64_t low = -1, high = -1;

	if (rd_kafka_get_watermark_offsets(c->rk, topic, partition, &low,
					   &high))
		return -1;
	return low;
}

int kafka_consumer_ask_log(struct kafka_consumer *c, const char *topic,
			   int32_t partition, int timeout_ms,
			   int64_t *ret_start, int64_t *ret_end,
			   struct error *err)
{
	rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(
		c->rk, topic, partition, ret_start, ret_end, timeout_ms);

	if (!code)
		return 0;
	return error_set_retriable(err, ERROR_REMOTE, "kafka: log of %s %d: %s",
				   topic, (int)partition,
				   rd_kafka_err2str(code));
}

int kafka_consumer_ask_end(struct kafka_consumer *c, const char *topic,
			   int32_t partition, int timeout_ms, int64_t *ret_end,
			   struct error *err)
{
	int64_t start;

	return kafka_consumer_ask_log(c, topic, partition, timeout_ms, &start,
				      ret_end, err);
}

int kafka_consumer_ask_time(struct kafka_consumer *c, const char *topic,
			    int32_t partition, int64_t real_ms, int timeout_ms,
			    int64_t *ret_offset, struct error *err)
{
	rd_kafka_topic_partition_list_t *list =
		kafka_one_partition(topic, partition, real_ms);
	rd_kafka_resp_err_t code =
		rd_kafka_offsets_for_times(c->rk, list, timeout_ms);

	if (!code)
		code = list->elems[0].err;
	if (!code)
		*ret_offset =
			list->elems[0].offset >= 0 ? list->elems[0].offset : -1;
	rd_kafka_topic_partition_list_destroy(list);
	if (!code)
		return 0;
	return error_set_retriable(
		err, ERROR_REMOTE, "kafka: offset at a time of %s %d: %s",
		topic, (int)partition, rd_kafka_err2str(code));
}

int kafka_consumer_ask_partitions(struct kafka_consumer *c, const char *topic,
				  int timeout_ms, uint32_t *ret_count,
				  struct error *err)
{
	return kafka_count_partitions(c->rk, topic, timeout_ms, ret_count, err);
}

/* The log ends of all held partitions, as offsets in the list; NULL: none is
 * held. */
rd_kafka_topic_partition_list_t *
kafka_consumer_ends(struct kafka_consumer *c, int timeout_ms,
		    rd_kafka_resp_err_t *ret_err)
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
	rd_kafka_topic_partition_list_t *list =
		kafka_consumer_ends(c, timeout_ms, &code);

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
