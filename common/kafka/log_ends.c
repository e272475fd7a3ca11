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

static int read_ends(rd_kafka_t *rk, const char *topic, int timeout_ms,
		     int64_t *ends, uint32_t count, struct error *err)
{
	rd_kafka_resp_err_t code;
	int64_t start;

	for (uint32_t i = 0; i < count; i++) {
		code = rd_kafka_query_watermark_offsets(
			rk, topic, (int32_t)i, &start, &ends[i], timeout_ms);
		if (code)
			return kafka_set_topic_error(topic, code, err);
	}
	return 0;
}

static int read_all(rd_kafka_t *rk, const char *topic, int timeout_ms,
		    int64_t **ret_ends, size_t *ret_count, struct error *err)
{
	uint32_t count = 0;
	int64_t *ends;

	if (kafka_count_partitions(rk, topic, timeout_ms, &count, err) < 0)
		return -1;
	ends = calloc((size_t)count + 1, sizeof(*ends));
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
