#include "common/kafka/producer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/backoff.h"
#include "common/clock.h"
#include "common/drop_const.h"
#include "common/kafka/not_stored.h"
#include "common/kafka/unsent.h"
#include "common/kafka/watch.h"

enum {
	POLL_MS = 100, /* the delivery thread's longest sleep */
	FLUSH_STEP_MS = 2,
	/* The wait for the brokers' answers to what was sent before the client
	 * failed. */
	SETTLE_MS = 500,
	/* The delay between a new client and the next one. */
	RENEW_MIN_MS = 1000,
	RENEW_MAX_MS = 60000,
	REASON_MAX = 256,
};

struct producer_metrics {
	struct metric *produced, *delivered, *failed, *refused, *renewed;
	struct metric *queue;
};

struct client {
	rd_kafka_t *rk;
	rd_kafka_topic_t *topic;
};

struct kafka_producer {
	/* Replaced only while no thread can use it: `open` is false, and
	 * `pending` counts only the messages in `unsent`. */
	struct client client;
	kafka_delivery_fn *on_delivery;
	kafka_failure_fn *on_failure;
	void *arg;
	struct kafka_watch *watch;
	struct producer_metrics metrics;
	/* Messages not reported yet, plus threads that are handing one over. */
	atomic_size_t pending;
	atomic_bool open; /* messages are accepted */
	atomic_bool stopping;
	pthread_t thread;
	bool thread_runs;

	rd_kafka_conf_t *conf; /* for the next client */

	/* Used by the delivery thread only. */
	struct unsent unsent;
	bool acknowledged;  /* this client has stored a message */
	unsigned fruitless; /* clients made since the last that stored a message
			     */
	int64_t renew_at;   /* monotonic ms */
};

/* --- delivery thread --------------------------------------------------- */

static const char *reason_of(rd_kafka_resp_err_t code)
{
	if (code == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP)
		return "Broker: Invalid timestamp: this host's clock is wrong, "
		       "and the topic goes by it (message.timestamp.type "
		       "is not LogAppendTime)";
	return rd_kafka_err2str(code);
}

static void describe_failure(struct error *err, const rd_kafka_message_t *m)
{
	error_set(err,
		  m->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ? ERROR_INPUT
								 : ERROR_REMOTE,
		  "kafka: %s", reason_of(m->err));
	err->retriable =
		kafka_certainly_not_stored(m->err, rd_kafka_message_status(m));
}

static void report_failure(struct kafka_producer *p, void *opaque,
			   const void *payload, size_t len,
			   const struct error *err)
{
	metric_add(p->metrics.failed, 1);
	kafka_watch_look(p->watch);
	if (p->on_failure)
		p->on_failure(p->arg, opaque, payload, len, err);
	else if (p->on_delivery)
		p->on_delivery(p->arg, opaque, err);
	atomic_fetch_sub(&p->pending, 1);
}

static void report_success(struct kafka_producer *p, void *opaque)
{
	p->acknowledged = true;
	metric_add(p->metrics.delivered, 1);
	kafka_watch_saw_life(p->watch);
	if (p->on_delivery)
		p->on_delivery(p->arg, opaque, NULL);
	atomic_fetch_sub(&p->pending, 1);
}

static bool has_failed(rd_kafka_t *rk, char reason[REASON_MAX])
{
	return rd_kafka_fatal_error(rk, reason, REASON_MAX) !=
	       RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* For a waiting message librdkafka does not say whether it was tried before.  A
 * caller with on_failure keeps it and sends it again, knowing that it may have
 * been stored; for any other caller it would be lost, so the next client sends
 * it. */
static bool may_go_again(const struct kafka_producer *p,
			 const rd_kafka_message_t *m)
{
	rd_kafka_msg_status_t status = rd_kafka_message_status(m);

	if (p->on_failure)
		return kafka_certainly_not_stored(m->err, status);
	return status == RD_KAFKA_MSG_STATUS_NOT_PERSISTED;
}

/* True if the message was only waiting when its client failed.  False if no
 * client gets anything stored: the failure has to be reported then. */
static bool is_for_next_client(const struct kafka_producer *p, rd_kafka_t *rk,
			       const rd_kafka_message_t *m)
{
	char ignored[REASON_MAX];

	return p->acknowledged && !atomic_load(&p->stopping) &&
	       m->err != RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE &&
	       m->err != RD_KAFKA_RESP_ERR__MSG_TIMED_OUT &&
	       may_go_again(p, m) && has_failed(rk, ignored);
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m,
			void *opaque)
{
	struct kafka_producer *p = opaque;
	struct error err = {0};

	if (!m->err) {
		report_success(p, m->_private);
		return;
	}
	if (is_for_next_client(p, rk, m) && unsent_keep(&p->unsent, m))
		return;
	describe_failure(&err, m);
	report_failure(p, m->_private, m->payload, m->len, &err);
}

/* An error event alone decides nothing: a broker that closes an idle connection
 * looks like one that has died.  The watch queries the brokers and decides. */
static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
	struct kafka_producer *p = opaque;

	(void)rk;
	(void)code;
	kafka_watch_note(p->watch, reason);
	kafka_watch_look(p->watch);
}

/* --- a client that has failed --------------------------------------------
 *
 * librdkafka stops an idempotent producer for good when it no longer knows
 * which messages the brokers have: a leader that lost the end of its log is
 * enough.  Each of its messages is reported, or kept for the next client,
 * before that one replaces it.
 */

static bool is_settled(const struct kafka_producer *p)
{
	return atomic_load(&p->pending) <= p->unsent.count;
}

/* Waits briefly for the acknowledgements of messages that brokers have
 * stored. */
static void await_answers(struct kafka_producer *p)
{
	int64_t until = clock_monotonic_ms() + SETTLE_MS;

	while (!is_settled(p) && !atomic_load(&p->stopping) &&
	       clock_monotonic_ms() < until)
		rd_kafka_poll(p->client.rk, FLUSH_STEP_MS);
}

/* Purges in a loop: a thread may still be handing over a message. */
static void give_up_queued(struct kafka_producer *p)
{
	while (!is_settled(p)) {
		rd_kafka_purge(p->client.rk, RD_KAFKA_PURGE_F_QUEUE |
						     RD_KAFKA_PURGE_F_INFLIGHT);
		rd_kafka_poll(p->client.rk, POLL_MS);
	}
}

static void give_up_unsent(struct kafka_producer *p,
			   const struct unsent_message *m,
			   rd_kafka_resp_err_t code)
{
	struct error err;

	error_set_retriable(&err, ERROR_REMOTE, "kafka: %s",
			    rd_kafka_err2str(code));
	report_failure(p, m->opaque, unsent_payload(m), m->len, &err);
}

static void send_unsent(struct kafka_producer *p)
{
	rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;

	unsent_sort(&p->unsent);
	for (size_t i = 0; i < p->unsent.count; i++) {
		const struct unsent_message *m = p->unsent.items[i];

		/* Once one is refused, no later message is sent: they are in
		 * order. */
		if (!code)
			code = unsent_produce(m, p->client.rk, p->client.topic);
		if (code)
			give_up_unsent(p, m, code);
	}
	unsent_clear(&p->unsent);
}

static void give_up_all(struct kafka_producer *p)
{
	give_up_queued(p);
	for (size_t i = 0; i < p->unsent.count; i++)
		give_up_unsent(p, p->unsent.items[i],
			       RD_KAFKA_RESP_ERR__PURGE_QUEUE);
	unsent_clear(&p->unsent);
}

static void client_free(struct client *c)
{
	if (c->topic)
		rd_kafka_topic_destroy(c->topic);
	if (c->rk)
		rd_kafka_destroy(c->rk);
	*c = (struct client){0};
}

static int client_open(const struct kafka_producer *p, const char *topic,
		       struct client *ret, struct error *err)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_dup(p->conf);
	char text[256] = "";

	*ret = (struct client){0};
	ret->rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
	if (!ret->rk) {
		rd_kafka_conf_destroy(conf);
		return error_set(err, ERROR_CONFIG, "kafka: %s", text);
	}
	ret->topic = rd_kafka_topic_new(ret->rk, topic, NULL);
	if (ret->topic)
		return 0;
	error_set(err, ERROR_CONFIG, "kafka topic '%s': %s", topic,
		  rd_kafka_err2str(rd_kafka_last_error()));
	client_free(ret);
	return -1;
}

/* The renewal is immediate after a client that worked; otherwise each one waits
 * longer. */
static void plan_renewal(struct kafka_producer *p)
{
	uint32_t chance;

	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) < 0)
		chance = 0;
	if (p->acknowledged)
		p->fruitless = 0;
	p->acknowledged = false;
	p->renew_at =
		clock_monotonic_ms() + backoff_delay(RENEW_MIN_MS, RENEW_MAX_MS,
						     ++p->fruitless, chance);
}

static void replace_client(struct kafka_producer *p, const char *reason)
{
	struct client failed = p->client, next;
	struct error err;

	plan_renewal(p);
	if (client_open(p, rd_kafka_topic_name(failed.topic), &next, &err) <
	    0) {
		kafka_watch_note(p->watch, err.text);
		return;
	}
	p->client = next;
	send_unsent(p);
	atomic_store(&p->open, true);
	metric_add(p->metrics.renewed, 1);
	kafka_watch_replace(p->watch, next.rk, next.topic, reason);
	client_free(&failed);
}

static void renew_failed(struct kafka_producer *p)
{
	char reason[REASON_MAX];

	if (!has_failed(p->client.rk, reason) ||
	    clock_monotonic_ms() < p->renew_at)
		return;
	atomic_store(&p->open, false);
	await_answers(p);
	give_up_queued(p);
	if (!atomic_load(&p->stopping))
		replace_client(p, reason);
}

static void *run_delivery_thread(void *arg)
{
	struct kafka_producer *p = arg;

	while (!atomic_load(&p->stopping)) {
		rd_kafka_poll(p->client.rk, POLL_MS);
		metric_set(p->metrics.queue, (int64_t)atomic_load(&p->pending));
		renew_failed(p);
	}
	give_up_all(p);
	return NULL;
}

/* --- building ---------------------------------------------------------- */

static int set_number(rd_kafka_conf_t *conf, const char *setting,
		      const char *name, int64_t value, struct error *err)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	return kafka_conf_set(conf, setting, name, text, err);
}

static int64_t first_of(int64_t own, int64_t general)
{
	return own ? own : general;
}

static int set_bounds(rd_kafka_conf_t *conf, const struct kafka_config *config,
		      const struct kafka_producer_options *options,
		      struct error *err)
{
	int64_t queue_bytes =
		first_of(options->queue_bytes, config->queue_bytes);
	int64_t queue_messages =
		first_of(options->queue_messages, config->queue_messages);

	/* A value of 0, in a config made by hand, keeps librdkafka's
	 * default. */
	if (queue_messages &&
	    set_number(conf, "queue_messages", "queue.buffering.max.messages",
		       queue_messages, err) < 0)
		return -1;
	if (queue_bytes &&
	    set_number(conf, "queue_bytes", "queue.buffering.max.kbytes",
		       queue_bytes / 1024, err) < 0)
		return -1;
	return 0;
}

/* Limits a batch of several messages to less than the max.message.bytes
 * recommended for topics, even if they cannot be compressed. */
static int set_batch_size(rd_kafka_conf_t *conf,
			  const struct kafka_config *config, struct error *err)
{
	if (kafka_option_is_given(config, "batch.size"))
		return 0;
	return kafka_conf_set(conf, "options", "batch.size", "200000", err);
}

/* Keeps batches below what a topic accepts, so that only a message that is
 * larger, and so sent alone, can be refused for its size. */
static int set_any_size(rd_kafka_conf_t *conf, struct error *err)
{
	if (kafka_conf_set(conf, "options", "message.max.bytes", "1000000000",
			   err) < 0)
		return -1;
	return kafka_conf_set(conf, "options", "batch.size", "16384", err);
}

static rd_kafka_conf_t *
producer_conf(struct kafka_producer *p, const struct kafka_config *config,
	      const struct kafka_producer_options *options, struct error *err)
{
	rd_kafka_conf_t *conf = kafka_conf_new(config, options->client_id, err);

	if (!conf)
		return NULL;
	/* murmur2 is what Kafka's own clients use: a key maps to the same
	 * partition for every sender. */
	if (kafka_conf_set(conf, "options", "enable.idempotence", "true", err) <
		    0 ||
	    kafka_conf_set(conf, "options", "partitioner", "murmur2_random",
			   err) < 0 ||
	    kafka_conf_set(conf, "options", "compression.codec",
			   options->compression, err) < 0 ||
	    set_number(conf, "options", "linger.ms", options->linger, err) <
		    0 ||
	    set_number(conf, "options", "message.timeout.ms",
		       options->delivery_timeout, err) < 0 ||
	    set_bounds(conf, config, options, err) < 0 ||
	    set_batch_size(conf, config, err) < 0 ||
	    (options->any_size && set_any_size(conf, err) < 0)) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	rd_kafka_conf_set_opaque(conf, p);
	rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
	rd_kafka_conf_set_error_cb(conf, on_error);
	return conf;
}

static int open_first(struct kafka_producer *p,
		      const struct kafka_config *config,
		      const struct kafka_producer_options *options,
		      struct error *err)
{
	p->conf = producer_conf(p, config, options, err);
	if (!p->conf)
		return -1;
	return client_open(p, options->topic, &p->client, err);
}

static void register_metrics(struct kafka_producer *p, struct metrics *m,
			     const char *topic, int64_t queue_max)
{
	struct producer_metrics *pm = &p->metrics;
	char labels[300];

	if (!m)
		return;
	snprintf(labels, sizeof(labels), "topic=\"%s\"", topic);
	pm->produced = metrics_counter(m, "shortloop_kafka_produced_total",
				       labels, "Messages taken for sending");
	pm->delivered = metrics_counter(m, "shortloop_kafka_delivered_total",
					labels, "Messages acknowledged");
	pm->failed = metrics_counter(m, "shortloop_kafka_failed_total", labels,
				     "Messages given up");
	pm->refused = metrics_counter(m, "shortloop_kafka_refused_total",
				      labels, "Messages not taken");
	pm->renewed =
		metrics_counter(m, "shortloop_kafka_renewed_total", labels,
				"Clients made anew after a fatal error");
	pm->queue = metrics_gauge(m, "shortloop_kafka_queue_messages", labels,
				  "Messages waiting for acknowledgement");
	metric_set(metrics_gauge(m, "shortloop_kafka_queue_messages_max",
				 labels, "Bound of the queue"),
		   queue_max);
}

struct kafka_producer *
kafka_producer_new(const struct kafka_config *config,
		   const struct kafka_producer_options *options,
		   struct metrics *metrics, struct error *err)
{
	struct kafka_producer *p = calloc(1, sizeof(*p));

	if (!p) {
		error_set_nomem(err);
		return NULL;
	}
	p->on_delivery = options->on_delivery;
	p->on_failure = options->on_failure;
	p->arg = options->arg;
	register_metrics(
		p, metrics, options->topic,
		first_of(options->queue_messages, config->queue_messages));
	if (open_first(p, config, options, err) < 0)
		goto fail;
	p->watch =
		kafka_watch_new(p->client.rk, p->client.topic,
				options->on_state, options->arg, metrics, err);
	if (!p->watch)
		goto fail;
	atomic_store(&p->open, true);
	errno = pthread_create(&p->thread, NULL, run_delivery_thread, p);
	if (errno != 0) {
		error_set_errno(err, "kafka: cannot start a thread");
		goto fail;
	}
	p->thread_runs = true;
	return p;
fail:
	kafka_producer_free(p);
	return NULL;
}

void kafka_producer_free(struct kafka_producer *p)
{
	if (!p)
		return;
	/* The watch uses the client, and reports refer to the watch: so the
	 * watch stops first and is freed last. */
	kafka_watch_stop(p->watch);
	atomic_store(&p->stopping, true);
	if (p->thread_runs)
		pthread_join(p->thread, NULL);
	client_free(&p->client);
	kafka_watch_free(p->watch);
	if (p->conf)
		rd_kafka_conf_destroy(p->conf);
	free(p);
}

/* --- callable from any thread ------------------------------------------ */

static int refuse_message(struct kafka_producer *p, rd_kafka_resp_err_t code,
			  struct error *err)
{
	metric_add(p->metrics.refused, 1);
	if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL)
		return error_set_retriable(err, ERROR_FULL,
					   "kafka: the queue is full");
	if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
		return error_set(err, ERROR_INPUT,
				 "kafka: the message is too large");
	if (code == RD_KAFKA_RESP_ERR__FATAL)
		return error_set_retriable(err, ERROR_REMOTE,
					   "kafka: the client has failed, and "
					   "is made anew");
	return error_set(err, ERROR_REMOTE, "kafka: %s",
			 rd_kafka_err2str(code));
}

/* Counts the message first: its report may come before rd_kafka_produce
 * returns.  A thread that is counted and finds `open` true may use the client,
 * because the client is replaced only when `open` is false and no thread is
 * counted.  This needs no lock. */
static bool register_message(struct kafka_producer *p)
{
	atomic_fetch_add(&p->pending, 1);
	return atomic_load(&p->open);
}

/* Undoes register_message() for a message that was not accepted. */
static int withdraw_message(struct kafka_producer *p, rd_kafka_resp_err_t code,
			    struct error *err)
{
	atomic_fetch_sub(&p->pending, 1);
	return refuse_message(p, code, err);
}

static int produce_message(struct kafka_producer *p, int flags, const void *key,
			   size_t key_len, const void *payload, size_t len,
			   void *opaque, struct error *err)
{
	if (!register_message(p))
		return withdraw_message(p, RD_KAFKA_RESP_ERR__FATAL, err);
	if (rd_kafka_produce(p->client.topic, RD_KAFKA_PARTITION_UA, flags,
			     drop_const(payload), len, key, key_len,
			     opaque) < 0)
		return withdraw_message(p, rd_kafka_last_error(), err);
	metric_add(p->metrics.produced, 1);
	return 0;
}

int kafka_produce(struct kafka_producer *p, const void *key, size_t key_len,
		  const void *payload, size_t len, void *opaque,
		  struct error *err)
{
	return produce_message(p, RD_KAFKA_MSG_F_COPY, key, key_len, payload,
			       len, opaque, err);
}

int kafka_produce_in_place(struct kafka_producer *p, const void *payload,
			   size_t len, void *opaque, struct error *err)
{
	return produce_message(p, 0, NULL, 0, payload, len, opaque, err);
}

/* On success the message owns the headers. */
static int produce_headers(struct kafka_producer *p, const void *payload,
			   size_t len, rd_kafka_headers_t *headers,
			   void *opaque, struct error *err)
{
	rd_kafka_resp_err_t code;

	if (!register_message(p))
		return withdraw_message(p, RD_KAFKA_RESP_ERR__FATAL, err);
	code = rd_kafka_producev(p->client.rk, RD_KAFKA_V_RKT(p->client.topic),
				 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
				 RD_KAFKA_V_VALUE(drop_const(payload), len),
				 RD_KAFKA_V_HEADERS(headers),
				 RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
	if (code)
		return withdraw_message(p, code, err);
	metric_add(p->metrics.produced, 1);
	return 0;
}

int kafka_produce_headers(struct kafka_producer *p, const void *payload,
			  size_t len, const struct kafka_header *headers,
			  size_t count, void *opaque, struct error *err)
{
	rd_kafka_headers_t *list = rd_kafka_headers_new(count);

	for (size_t i = 0; i < count; i++)
		rd_kafka_header_add(list, headers[i].name, -1, headers[i].value,
				    -1);
	if (produce_headers(p, payload, len, list, opaque, err) == 0)
		return 0;
	rd_kafka_headers_destroy(list);
	return -1;
}

int kafka_producer_flush(struct kafka_producer *p, int64_t timeout_ms,
			 struct error *err)
{
	size_t left;

	/* rd_kafka_flush is not used: it would serve delivery reports on this
	 * thread. */
	while ((left = atomic_load(&p->pending)) > 0 && timeout_ms > 0) {
		nanosleep(&(struct timespec){0, FLUSH_STEP_MS * 1000000}, NULL);
		timeout_ms -= FLUSH_STEP_MS;
	}
	if (left == 0)
		return 0;
	return error_set_retriable(err, ERROR_REMOTE,
				   "kafka: %zu messages not delivered", left);
}

size_t kafka_producer_queued(const struct kafka_producer *p)
{
	return atomic_load(&p->pending);
}

bool kafka_producer_is_up(const struct kafka_producer *p)
{
	return kafka_watch_is_up(p->watch);
}
