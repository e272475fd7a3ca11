#include "common/kafka/log_ends.h"

#include <stdlib.h>

static rd_kafka_t *open_client(const struct kafka_config *config,
			       const char *client_id, struct error *err)
{
	rd_kafka_conf_t *conf = kafka_conf_new(config, client_id, err);
	char text[256] = "";
	rd_kafka_t *rk;

	if (!conf)
		return NULL;
	rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
	if (rk)
		return rk;
	rd_kafka_conf_destroy(conf);
	error_set(err, ERROR_CONFIG, "kafka: %s", text);
	return NULL;
}

static int set_refusal(const char *topic, rd_kafka_resp_err_t code,
		       struct error *err)
{
	return error_set_retriable(err, ERROR_REMOTE, "kafka: topic %s: %s",
				   topic, rd_kafka_err2str(code));
}

static int count_partitions(rd_kafka_t *rk, const char *topic, int timeout_ms,
			    size_t *ret_count, struct error *err)
{
	const struct rd_kafka_metadata *metadata = NULL;
	rd_kafka_topic_t *handle = rd_kafka_topic_new(rk, topic, NULL);
	rd_kafka_resp_err_t code;

	if (!handle)
		return set_refusal(topic, rd_kafka_last_error(), err);
	code = rd_kafka_metadata(rk, 0, handle, &metadata, timeout_ms);
	if (!code && metadata->topic_cnt != 1)
		code = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
	else if (!code)
		code = metadata->topics[0].err;
	if (!code)
		*ret_count = (size_t)metadata->topics[0].partition_cnt;
	if (metadata)
		rd_kafka_metadata_destroy(metadata);
	rd_kafka_topic_destroy(handle);
	return code ? set_refusal(topic, code, err) : 0;
}

static int read_ends(rd_kafka_t *rk, const char *topic, int timeout_ms,
		     int64_t *ends, size_t count, struct error *err)
{
	rd_kafka_resp_err_t code;
	int64_t start;

	for (size_t i = 0; i < count; i++) {
		code = rd_kafka_query_watermark_offsets(
			rk, topic, (int32_t)i, &start, &ends[i], timeout_ms);
		if (code)
			return set_refusal(topic, code, err);
	}
	return 0;
}

static int read_all(rd_kafka_t *rk, const char *topic, int timeout_ms,
		    int64_t **ret_ends, size_t *ret_count, struct error *err)
{
	size_t count = 0;
	int64_t *ends;

	if (count_partitions(rk, topic, timeout_ms, &count, err) < 0)
		return -1;
	ends = calloc(count + 1, sizeof(*ends));
	if (!ends)
		return error_set_nomem(err);
	if (read_ends(rk, topic, timeout_ms, ends, count, err) < 0) {
		free(ends);
		return -1;
	}
	*ret_ends = ends;
	*ret_count = count;
	return 0;
}

int kafka_log_ends(const struct kafka_config *config, const char *client_id,
		   const char *topic, int timeout_ms, int64_t **ret_ends,
		   size_t *ret_count, struct error *err)
{
	rd_kafka_t *rk = open_client(config, client_id, err);
	int status;

	if (!rk)
		return -1;
	status = read_all(rk, topic, timeout_ms, ret_ends, ret_count, err);
	rd_kafka_destroy(rk);
	return status;
}
