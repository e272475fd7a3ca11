#include "common/kafka/transaction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/drop_const.h"

enum {
	STEP_MS = 30000,
	FULL_POLL_MS = 100,
	COMMIT_TRIES = 3,
};

struct kafka_transaction {
	rd_kafka_t *rk;
	bool open;
	char said[256];	  /* librdkafka's last complaint */
	char failed[256]; /* why the first failed message failed */
};

/* --- building ---------------------------------------------------------- */

static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
	struct kafka_transaction *t = opaque;

	(void)rk;
	(void)code;
	strncpy(t->said, reason, sizeof(t->said) - 1);
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m,
			void *opaque)
{
	struct kafka_transaction *t = opaque;

	(void)rk;
	/* A purged message failed because of another one. */
	if (m->err && m->err != RD_KAFKA_RESP_ERR__PURGE_QUEUE &&
	    m->err != RD_KAFKA_RESP_ERR__PURGE_INFLIGHT && !*t->failed)
		snprintf(t->failed, sizeof(t->failed), "topic %s: %s",
			 rd_kafka_topic_name(m->rkt), rd_kafka_err2str(m->err));
}

static rd_kafka_conf_t *conf_new(struct kafka_transaction *t,
				 const struct kafka_config *config,
				 const char *id, struct error *err)
{
	const char *const properties[][2] = {
		{"transactional.id", id},
		{"compression.codec", "lz4"},
		{"partitioner", "murmur2_random"},
		{"message.timeout.ms", "30000"},
		/* The largest value that brokers may accept; the brokers
		 * themselves refuse more. */
		{"message.max.bytes", "1000000000"},
	};
	rd_kafka_conf_t *conf = kafka_conf_new(config, id, err);

	if (!conf)
		return NULL;
	if (kafka_conf_set_all(conf, properties,
			       sizeof(properties) / sizeof(*properties),
			       err) < 0) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	rd_kafka_conf_set_opaque(conf, t);
	rd_kafka_conf_set_error_cb(conf, on_error);
	rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
	return conf;
}

/* Takes ownership of `error`; NULL is success. */
static int check_kafka_error(struct kafka_transaction *t,
			     rd_kafka_error_t *error, struct error *err)
{
	int code;

	if (!error)
		return 0;
	code = rd_kafka_error_code(error);
	rd_kafka_poll(t->rk, 0); /* takes complaints */
	if (code == RD_KAFKA_RESP_ERR__FENCED ||
	    code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
	    code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH)
		error_set(err, ERROR_CONFLICT,
			  "kafka: another one has begun the same");
	else if (*t->failed)
		error_set(err, ERROR_REMOTE, "kafka: %s", t->failed);
	else if (rd_kafka_error_is_retriable(error) ||
		 code == RD_KAFKA_RESP_ERR__TIMED_OUT)
		error_set_retriable(err, ERROR_REMOTE, "kafka: %s%s%s",
				    rd_kafka_error_string(error),
				    *t->said ? ": " : "", t->said);
	else
		error_set(err, ERROR_REMOTE, "kafka: %s",
			  rd_kafka_error_string(error));
	rd_kafka_error_destroy(error);
	return -1;
}

static int open_handle(struct kafka_transaction *t,
		       const struct kafka_config *config, const char *id,
		       struct error *err)
{
	rd_kafka_conf_t *conf = conf_new(t, config, id, err);
	char text[256] = "";

	if (!conf)
		return -1;
	t->rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
	if (!t->rk) {
		rd_kafka_conf_destroy(conf);
		return error_set(err, ERROR_CONFIG, "kafka: %s", text);
	}
	return check_kafka_error(t, rd_kafka_init_transactions(t->rk, STEP_MS),
				 err);
}

struct kafka_transaction *
kafka_transaction_new(const struct kafka_config *config, const char *id,
		      struct error *err)
{
	struct kafka_transaction *t = calloc(1, sizeof(*t));

	if (!t) {
		error_set_nomem(err);
		return NULL;
	}
	if (open_handle(t, config, id, err) == 0)
		return t;
	kafka_transaction_free(t);
	return NULL;
}

static void abort_open(struct kafka_transaction *t)
{
	rd_kafka_error_t *error;

	if (!t->open)
		return;
	t->open = false;
	error = rd_kafka_abort_transaction(t->rk, STEP_MS);
	/* The brokers abort an open transaction, and so does the next client
	 * with this id. */
	if (error)
		rd_kafka_error_destroy(error);
}

void kafka_transaction_free(struct kafka_transaction *t)
{
	if (!t)
		return;
	if (t->rk) {
		abort_open(t);
		rd_kafka_destroy(t->rk);
	}
	free(t);
}

/* --- one transaction --------------------------------------------------- */

int kafka_transaction_begin(struct kafka_transaction *t, struct error *err)
{
	t->failed[0] = t->said[0] = '\0';
	if (check_kafka_error(t, rd_kafka_begin_transaction(t->rk), err) < 0)
		return -1;
	t->open = true;
	return 0;
}

/* On success the message owns the headers. */
static rd_kafka_resp_err_t produce_in_transaction(struct kafka_transaction *t,
						  const struct kafka_message *m,
						  rd_kafka_headers_t *headers)
{
	return rd_kafka_producev(
		t->rk, RD_KAFKA_V_TOPIC(m->topic),
		RD_KAFKA_V_PARTITION(m->partition < 0 ? RD_KAFKA_PARTITION_UA
						      : m->partition),
		RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
		RD_KAFKA_V_KEY(drop_const(m->key), m->key_len),
		RD_KAFKA_V_VALUE(drop_const(m->payload), m->len),
		RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
}

int kafka_transaction_put(struct kafka_transaction *t,
			  const struct kafka_message *message,
			  struct error *err)
{
	int64_t until = clock_monotonic_ms() + STEP_MS;
	rd_kafka_headers_t *headers =
		rd_kafka_headers_new(message->header_count);
	rd_kafka_resp_err_t code;

	for (size_t i = 0; i < message->header_count; i++)
		rd_kafka_header_add(headers, message->headers[i].name, -1,
				    message->headers[i].value, -1);
	while ((code = produce_in_transaction(t, message, headers)) ==
		       RD_KAFKA_RESP_ERR__QUEUE_FULL &&
	       clock_monotonic_ms() < until)
		rd_kafka_poll(t->rk, FULL_POLL_MS);
	if (!code) {
		rd_kafka_poll(t->rk, 0);
		return 0;
	}
	rd_kafka_headers_destroy(headers);
	if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
		return error_set(err, ERROR_INPUT,
				 "kafka: the message is too large");
	return error_set(err, ERROR_REMOTE, "kafka: topic %s: %s",
			 message->topic, rd_kafka_err2str(code));
}

int kafka_transaction_commit(struct kafka_transaction *t, struct error *err)
{
	int status = -1;

	/* A commit that was not answered is requested again: the request is
	 * idempotent. */
	for (int i = 0; status < 0 && i < COMMIT_TRIES; i++) {
		status = check_kafka_error(
			t, rd_kafka_commit_transaction(t->rk, STEP_MS), err);
		if (status < 0 && !err->retriable)
			break;
	}
	if (status < 0)
		abort_open(t);
	t->open = false;
	return status;
}
