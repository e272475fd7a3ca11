/* consumer_offsets.c - where a consumer stands, and where it shall. */
#include "common/kafka/consumer_internal.h"

enum {
	SEEK_TIMEOUT_MS = 10000
};

static rd_kafka_topic_partition_list_t *one(const char *topic,
					    int32_t partition, int64_t offset)
{
	rd_kafka_topic_partition_list_t *list =
		rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(list, topic, partition)->offset =
		offset;
	return list;
}

int kafka_consumer_commit(struct kafka_consumer *c, const char *topic,
			  int32_t partition, int64_t next, bool wait,
			  struct error *err)
{
	rd_kafka_topic_partition_list_t *list = one(topic, partition, next);
	rd_kafka_resp_err_t code = rd_kafka_commit(c->rk, list, !wait);

	if (!code && wait)
		code = list->elems[0].err;
	rd_kafka_topic_partition_list_destroy(list);
	if (!code)
		return 0;
	return error_set_retriable(
		err, ERROR_REMOTE, "kafka: commit of %s %d at %lld: %s", topic,
		(int)partition, (long long)next, rd_kafka_err2str(code));
}

int kafka_consumer_pause(struct kafka_consumer *c, const char *topic,
			 int32_t partition, bool pause, struct error *err)
{
	rd_kafka_topic_partition_list_t *list =
		one(topic, partition, RD_KAFKA_OFFSET_INVALID);
	rd_kafka_resp_err_t code =
		pause ? rd_kafka_pause_partitions(c->rk, list)
		      : rd_kafka_resume_partitions(c->rk, list);

	if (!code)
		code = list->elems[0].err;
	rd_kafka_topic_partition_list_destroy(list);
	if (!code)
		return 0;
	return error_set_retriable(err, ERROR_REMOTE, "kafka: %s of %s %d: %s",
				   pause ? "pause" : "resume", topic,
				   (int)partition, rd_kafka_err2str(code));
}

int kafka_consumer_seek(struct kafka_consumer *c, const char *topic,
			int32_t partition, int64_t offset, struct error *err)
{
	rd_kafka_topic_partition_list_t *list = one(topic, partition, offset);
	rd_kafka_error_t *error =
		rd_kafka_seek_partitions(c->rk, list, SEEK_TIMEOUT_MS);
	int status = 0;

	if (error) {
		status = error_set_retriable(err, ERROR_REMOTE,
					     "kafka: seek: %s",
					     rd_kafka_error_string(error));
		rd_kafka_error_destroy(error);
	}
	rd_kafka_topic_partition_list_destroy(list);
	return status;
}

int64_t kafka_consumer_log_end(struct kafka_consumer *c, const char *topic,
			       int32_t partition)
{
	int64_t low = -1, high = -1;

	if (rd_kafka_get_watermark_offsets(c->rk, topic, partition, &low,
					   &high))
		return -1;
	return high;
}

int kafka_consumer_ask_end(struct kafka_consumer *c, const char *topic,
			   int32_t partition, int timeout_ms, int64_t *ret_end,
			   struct error *err)
{
	int64_t low, high;
	rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(
		c->rk, topic, partition, &low, &high, timeout_ms);

	if (code)
		return error_set_retriable(
			err, ERROR_REMOTE, "kafka: end of %s %d: %s", topic,
			(int)partition, rd_kafka_err2str(code));
	*ret_end = high;
	return 0;
}

int kafka_consumer_ask_partitions(struct kafka_consumer *c, const char *topic,
				  int timeout_ms, uint32_t *ret_count,
				  struct error *err)
{
	const struct rd_kafka_metadata *metadata = NULL;
	rd_kafka_topic_t *handle = rd_kafka_topic_new(c->rk, topic, NULL);
	rd_kafka_resp_err_t code;

	if (!handle)
		return error_set_retriable(
			err, ERROR_REMOTE, "kafka: topic %s: %s", topic,
			rd_kafka_err2str(rd_kafka_last_error()));
	code = rd_kafka_metadata(c->rk, 0, handle, &metadata, timeout_ms);
	if (!code && metadata->topic_cnt != 1)
		code = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
	else if (!code)
		code = metadata->topics[0].err;
	if (!code)
		*ret_count = (uint32_t)metadata->topics[0].partition_cnt;
	if (metadata)
		rd_kafka_metadata_destroy(metadata);
	rd_kafka_topic_destroy(handle);
	if (!code)
		return 0;
	return error_set_retriable(err, ERROR_REMOTE, "kafka: topic %s: %s",
				   topic, rd_kafka_err2str(code));
}
