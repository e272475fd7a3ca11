#include "common/kafka/reader_internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/kafka/consumer_internal.h"

#define FETCH_BYTES "262144"

enum {
	POLL_MS = 200,
	SILENCE_MS = 30000, /* longer than a broker takes to start */
	WAKE_EVERY = 8192,  /* records; less than half of what is fetched */
};

/* --- building ---------------------------------------------------------- */

static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
	struct kafka_reader *r = opaque;

	(void)rk;
	(void)code;
	strncpy(r->said, reason, sizeof(r->said) - 1);
}

static rd_kafka_conf_t *reader_conf(struct kafka_reader *r,
				    const struct kafka_config *config,
				    const char *client_id, const char *group,
				    struct error *err)
{
	const char *const properties[][2] = {
		{"group.id", group},
		{"enable.auto.commit", "false"},
		{"enable.auto.offset.store", "false"},
		{"enable.partition.eof", "true"},
		{"auto.offset.reset", "error"},
		{"isolation.level", "read_committed"},
		/* Little at a time: an answer can unpack to 255 times its
		 * size (lz4), and librdkafka adds some 350 bytes to each
		 * record. */
		{"queued.max.messages.kbytes", "8192"},
		{"queued.min.messages", "20000"},
		{"message.max.bytes", FETCH_BYTES},
		{"fetch.max.bytes", FETCH_BYTES},
		{"fetch.message.max.bytes", FETCH_BYTES},
		{"fetch.wait.max.ms", "20"},
	};
	rd_kafka_conf_t *conf = kafka_conf_new(config, client_id, err);

	if (!conf)
		return NULL;
	if (kafka_conf_set_all(conf, properties,
			       sizeof(properties) / sizeof(*properties),
			       err) < 0) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	rd_kafka_conf_set_opaque(conf, r);
	rd_kafka_conf_set_error_cb(conf, on_error);
	return conf;
}

struct kafka_reader *kafka_reader_new(const struct kafka_config *config,
				      const char *client_id, const char *group,
				      struct error *err)
{
	struct kafka_reader *r = calloc(1, sizeof(*r));
	rd_kafka_conf_t *conf;
	char text[256] = "";

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	conf = reader_conf(r, config, client_id, group, err);
	if (!conf)
		goto fail;
	r->rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
	if (!r->rk) {
		rd_kafka_conf_destroy(conf);
		error_set(err, ERROR_CONFIG, "kafka: %s", text);
		goto fail;
	}
	rd_kafka_poll_set_consumer(r->rk);
	return r;
fail:
	kafka_reader_free(r);
	return NULL;
}

void kafka_reader_free(struct kafka_reader *r)
{
	if (!r)
		return;
	if (r->rk) {
		rd_kafka_consumer_close(r->rk);
		rd_kafka_destroy(r->rk);
	}
	free(r->topic);
	free(r);
}

/* --- a stretch --------------------------------------------------------- */

int kafka_reader_open(struct kafka_reader *r, const char *topic,
		      int32_t partition, int64_t first, int64_t end,
		      struct error *err)
{
	rd_kafka_topic_partition_list_t *list;
	rd_kafka_resp_err_t code;

	free(r->topic);
	r->topic = strdup(topic);
	if (!r->topic)
		return error_set_nomem(err);
	r->partition = partition;
	r->next = first;
	r->end = end;
	r->open = first < end;
	if (!r->open)
		return 0;
	list = kafka_reader_one(topic, partition, first);
	code = rd_kafka_assign(r->rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	if (!code)
		return 0;
	r->open = false;
	return kafka_reader_refuse(r, "reading", topic, partition, code, err);
}

/* 1 the stretch is at its end, 0 it goes on, -1 it cannot. */
static int judge_event(struct kafka_reader *r, const rd_kafka_message_t *m,
		       struct error *err)
{
	switch (m->err) {
	case RD_KAFKA_RESP_ERR__PARTITION_EOF:
		return 1;
	case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
		return error_set_retriable(
			err, ERROR_CONFLICT,
			"kafka dropped what was to be read of %s %d from %lld "
			"on: look again",
			r->topic, (int)r->partition, (long long)r->next);
	case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
	case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
	case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
		return error_set(err, ERROR_REMOTE, "kafka: %s",
				 rd_kafka_message_errstr(m));
	default:
		strncpy(r->said, rd_kafka_message_errstr(m),
			sizeof(r->said) - 1);
		return 0;
	}
}

/* librdkafka looks only once a second whether there is room for more; a request
 * that nobody waits for wakes it (see consumer_fetch.c). */
static void keep_fetching(struct kafka_reader *r)
{
	rd_kafka_topic_partition_list_t *list;

	if (++r->taken % WAKE_EVERY)
		return;
	list = kafka_reader_one(r->topic, r->partition, RD_KAFKA_OFFSET_END);
	(void)rd_kafka_offsets_for_times(r->rk, list, 0);
	rd_kafka_topic_partition_list_destroy(list);
}

/* A record of the stretch: 1; what lies behind it ends it: 0. */
static int take(struct kafka_reader *r, rd_kafka_message_t *m,
		struct kafka_record *ret_record)
{
	if (m->offset >= r->end) {
		rd_kafka_message_destroy(m);
		return 0;
	}
	r->next = m->offset + 1;
	keep_fetching(r);
	kafka_record_fill(ret_record, m);
	return 1;
}

static int await(struct kafka_reader *r, struct kafka_record *ret_record,
		 struct error *err)
{
	int64_t until = clock_monotonic_ms() + SILENCE_MS;
	rd_kafka_message_t *m;
	int judged;

	while (clock_monotonic_ms() < until) {
		m = rd_kafka_consumer_poll(r->rk, POLL_MS);
		if (m && !m->err)
			return take(r, m, ret_record);
		judged = m ? judge_event(r, m, err) : 0;
		if (m)
			rd_kafka_message_destroy(m);
		if (judged)
			return judged < 0 ? -1 : 0;
	}
	return error_set_retriable(
		err, ERROR_REMOTE, "kafka: %s %d: nothing came for %d s%s%s",
		r->topic, (int)r->partition, SILENCE_MS / 1000,
		*r->said ? ": " : "", r->said);
}

int kafka_reader_next(struct kafka_reader *r, struct kafka_record *ret_record,
		      struct error *err)
{
	int status = 0;

	if (!r->open)
		return 0;
	/* The last offset may be a hole; but when it is a record, there is
	 * nothing to wait for behind it. */
	if (r->next < r->end)
		status = await(r, ret_record, err);
	if (status <= 0) {
		r->open = false;
		rd_kafka_assign(r->rk, NULL);
	}
	return status;
}

const char *kafka_record_header(const struct kafka_record *record,
				const char *name)
{
	rd_kafka_headers_t *headers;
	const void *value;
	size_t size;

	if (rd_kafka_message_headers(record->message, &headers) ||
	    rd_kafka_header_get_last(headers, name, &value, &size))
		return NULL;
	return value;
}
