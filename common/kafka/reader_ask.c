/* reader_ask.c - a reader's questions. */
#include <stdio.h>
#include <time.h>

#include "common/clock.h"
#include "common/kafka/consumer_internal.h"
#include "common/kafka/reader_internal.h"

/* Its complaints come with the records. */
static void hear(struct kafka_reader *r)
{
	rd_kafka_message_t *m = rd_kafka_consumer_poll(r->rk, 0);

	if (m)
		rd_kafka_message_destroy(m);
}

int kafka_reader_refuse(struct kafka_reader *r, const char *what,
			const char *topic, int32_t partition,
			rd_kafka_resp_err_t code, struct error *err)
{
	bool silent = code == RD_KAFKA_RESP_ERR__TIMED_OUT ||
		      code == RD_KAFKA_RESP_ERR__TRANSPORT ||
		      code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
	char where[16] = "";

	if (silent && !*r->said && !r->open)
		hear(r);
	/* The complaint names the broker and what is wrong with it. */
	if (silent && *r->said)
		return error_set_retriable(err, ERROR_REMOTE, "kafka: %s",
					   r->said);
	if (partition >= 0)
		snprintf(where, sizeof(where), " %d", (int)partition);
	return error_set_retriable(err, ERROR_REMOTE, "kafka: %s of %s%s: %s",
				   what, topic, where, rd_kafka_err2str(code));
}

static int ask_topic(struct kafka_reader *r, rd_kafka_topic_t *handle,
		     uint32_t *ret_count, rd_kafka_resp_err_t *ret_code)
{
	const struct rd_kafka_metadata *metadata = NULL;

	*ret_code = rd_kafka_metadata(r->rk, 0, handle, &metadata,
				      KAFKA_READER_ASK_MS);
	if (!*ret_code && metadata->topic_cnt != 1)
		*ret_code = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
	else if (!*ret_code)
		*ret_code = metadata->topics[0].err;
	if (!*ret_code)
		*ret_count = (uint32_t)metadata->topics[0].partition_cnt;
	if (metadata)
		rd_kafka_metadata_destroy(metadata);
	return *ret_code ? -1 : 0;
}

int kafka_reader_partitions(struct kafka_reader *r, const char *topic,
			    uint32_t *ret_count, struct error *err)
{
	rd_kafka_topic_t *handle = rd_kafka_topic_new(r->rk, topic, NULL);
	rd_kafka_resp_err_t code;
	int status;

	if (!handle)
		return error_set(err, ERROR_CONFIG, "kafka topic '%s': %s",
				 topic,
				 rd_kafka_err2str(rd_kafka_last_error()));
	status = ask_topic(r, handle, ret_count, &code);
	rd_kafka_topic_destroy(handle);
	if (status == 0)
		return 0;
	if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
	    code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
		return error_set(err, ERROR_NOTFOUND, "kafka has no topic '%s'",
				 topic);
	return kafka_reader_refuse(r, "partitions", topic, -1, code, err);
}

int kafka_reader_bounds(struct kafka_reader *r, const char *topic,
			int32_t partition, int64_t *ret_low, int64_t *ret_high,
			struct error *err)
{
	int64_t low, high;
	rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(
		r->rk, topic, partition, &low, &high, KAFKA_READER_ASK_MS);

	if (code)
		return kafka_reader_refuse(r, "start and end", topic, partition,
					   code, err);
	*ret_low = low;
	*ret_high = high;
	return 0;
}

rd_kafka_topic_partition_list_t *
kafka_reader_one(const char *topic, int32_t partition, int64_t offset)
{
	rd_kafka_topic_partition_list_t *list =
		rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(list, topic, partition)->offset =
		offset;
	return list;
}

/* The offset that librdkafka put into the list's only element, or -1 where
 * there is none.  Frees the list. */
static int take_offset(struct kafka_reader *r, const char *what,
		       rd_kafka_topic_partition_list_t *list,
		       rd_kafka_resp_err_t code, int64_t *ret_offset,
		       struct error *err)
{
	const rd_kafka_topic_partition_t *one = &list->elems[0];
	int status = 0;

	if (!code)
		code = one->err;
	if (code)
		status = kafka_reader_refuse(r, what, one->topic,
					     one->partition, code, err);
	else
		*ret_offset = one->offset >= 0 ? one->offset : -1;
	rd_kafka_topic_partition_list_destroy(list);
	return status;
}

int kafka_reader_at(struct kafka_reader *r, const char *topic,
		    int32_t partition, int64_t real_ms, int64_t *ret_offset,
		    struct error *err)
{
	rd_kafka_topic_partition_list_t *list =
		kafka_reader_one(topic, partition, real_ms);
	rd_kafka_resp_err_t code =
		rd_kafka_offsets_for_times(r->rk, list, KAFKA_READER_ASK_MS);

	return take_offset(r, "offset at a time", list, code, ret_offset, err);
}

/* A broker that has just started says for a moment that the group is not its
 * own, or that it still reads it. */
static bool passes(rd_kafka_resp_err_t code)
{
	return code == RD_KAFKA_RESP_ERR_NOT_COORDINATOR ||
	       code == RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE ||
	       code == RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS;
}

static rd_kafka_resp_err_t ask_committed(struct kafka_reader *r,
					 rd_kafka_topic_partition_list_t *list)
{
	static const struct timespec pause = {.tv_nsec = 100000000};
	int64_t end = clock_monotonic_ms() + KAFKA_READER_ASK_MS;
	rd_kafka_resp_err_t code;

	for (;;) {
		code = rd_kafka_committed(r->rk, list, KAFKA_READER_ASK_MS);
		if (!code)
			code = list->elems[0].err;
		if (!passes(code) || clock_monotonic_ms() >= end)
			return code;
		nanosleep(&pause, NULL);
	}
}

int kafka_reader_commit(struct kafka_reader *r, const char *topic,
			int32_t partition, struct kafka_committed *ret,
			struct error *err)
{
	rd_kafka_topic_partition_list_t *list =
		kafka_reader_one(topic, partition, RD_KAFKA_OFFSET_INVALID);
	rd_kafka_resp_err_t code = ask_committed(r, list);
	int status = 0;

	if (code)
		status = kafka_reader_refuse(r, "committed offset", topic,
					     partition, code, err);
	else
		kafka_committed_fill(ret, &list->elems[0]);
	rd_kafka_topic_partition_list_destroy(list);
	return status;
}
