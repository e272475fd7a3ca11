#include "common/kafka/producer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/kafka/not_stored.h"
#include "common/kafka/watch.h"
#include "common/unconst.h"

enum {
	POLL_MS = 100, /* how long the delivery thread sleeps at most */
	FLUSH_STEP_MS = 2
};

struct producer_metrics {
	struct metric *produced, *delivered, *failed, *refused;
	struct metric *queue;
};

struct kafka_producer {
	rd_kafka_t *rk;
	rd_kafka_topic_t *topic;
	kafka_delivery_fn *on_delivery;
	kafka_failure_fn *on_failure;
	void *arg;
	struct kafka_watch *watch;
	struct producer_metrics metrics;
	atomic_size_t pending;
	atomic_bool stopping;
	pthread_t thread;
	bool thread_runs;
};

/* --- on the delivery thread -------------------------------------------- */

static void describe_failure(struct error *err, const rd_kafka_message_t *m)
{
	error_set(err,
		  m->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ? ERROR_INPUT
								 : ERROR_REMOTE,
		  "kafka: %s", rd_kafka_err2str(m->err));
	err->retriable =
		kafka_certainly_not_stored(m->err, rd_kafka_message_status(m));
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m,
			void *opaque)
{
	struct kafka_producer *p = opaque;
	struct error err = {0};

	(void)rk;
	if (m->err) {
		describe_failure(&err, m);
		metric_add(p->metrics.failed, 1);
		kafka_watch_look(p->watch);
	} else {
		metric_add(p->metrics.delivered, 1);
		kafka_watch_saw_life(p->watch);
	}
	if (m->err && p->on_failure)
		p->on_failure(p->arg, m->_private, m->payload, m->len, &err);
	else if (p->on_delivery)
		p->on_delivery(p->arg, m->_private, m->err ? &err : NULL);
	atomic_fetch_sub(&p->pending, 1);
}

/* An error event alone decides nothing: a broker that closes an idle connection
 * looks like one that has died.  The watch asks and decides. */
static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
	struct kafka_producer *p = opaque;

	(void)rk;
	(void)code;
	kafka_watch_note(p->watch, reason);
	kafka_watch_look(p->watch);
}

static void *deliver(void *arg)
{
	struct kafka_producer *p = arg;

	while (!atomic_load(&p->stopping)) {
		rd_kafka_poll(p->rk, POLL_MS);
		metric_set(p->metrics.queue, (int64_t)atomic_load(&p->pending));
	}
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

	/* What a config made by hand leaves at 0 stays librdkafka's. */
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

/* Below what a topic takes, so that only a message that is larger, and so goes
 * alone, can be refused for its size. */
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
	/* murmur2 is what Kafka's own clients use: a key lands in the same
	 * partition whoever sends it. */
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
	    (options->any_size && set_any_size(conf, err) < 0)) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	rd_kafka_conf_set_opaque(conf, p);
	rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
	rd_kafka_conf_set_error_cb(conf, on_error);
	return conf;
}

static int open_handle(struct kafka_producer *p,
		       const struct kafka_config *config,
		       const struct kafka_producer_options *options,
		       struct error *err)
{
	rd_kafka_conf_t *conf = producer_conf(p, config, options, err);
	char text[256] = "";

	if (!conf)
		return -1;
	p->rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
	if (!p->rk) {
		rd_kafka_conf_destroy(conf);
		return error_set(err, ERROR_CONFIG, "kafka: %s", text);
	}
	p->topic = rd_kafka_topic_new(p->rk, options->topic, NULL);
	if (!p->topic)
		return error_set(err, ERROR_CONFIG, "kafka topic '%s': %s",
				 options->topic,
				 rd_kafka_err2str(rd_kafka_last_error()));
	return 0;
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
	if (open_handle(p, config, options, err) < 0)
		goto fail;
	p->watch = kafka_watch_new(p->rk, p->topic, options->on_state,
				   options->arg, metrics, err);
	if (!p->watch)
		goto fail;
	errno = pthread_create(&p->thread, NULL, deliver, p);
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
	/* The watch uses the handle, and reports refer to the watch: so it
	 * stops first and goes last. */
	kafka_watch_stop(p->watch);
	if (p->rk) {
		rd_kafka_purge(p->rk, RD_KAFKA_PURGE_F_QUEUE |
					      RD_KAFKA_PURGE_F_INFLIGHT);
		while (p->thread_runs && atomic_load(&p->pending) > 0)
			nanosleep(
				&(struct timespec){0, FLUSH_STEP_MS * 1000000},
				NULL);
	}
	atomic_store(&p->stopping, true);
	if (p->thread_runs)
		pthread_join(p->thread, NULL);
	if (p->topic)
		rd_kafka_topic_destroy(p->topic);
	if (p->rk)
		rd_kafka_destroy(p->rk);
	kafka_watch_free(p->watch);
	free(p);
}

/* --- from any thread --------------------------------------------------- */

static int refuse(struct kafka_producer *p, rd_kafka_resp_err_t code,
		  struct error *err)
{
	metric_add(p->metrics.refused, 1);
	if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL)
		return error_set_retriable(err, ERROR_FULL,
					   "kafka: the queue is full");
	if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
		return error_set(err, ERROR_INPUT,
				 "kafka: the message is too large");
	return error_set(err, ERROR_REMOTE, "kafka: %s",
			 rd_kafka_err2str(code));
}

static int produce(struct kafka_producer *p, int flags, const void *key,
		   size_t key_len, const void *payload, size_t len,
		   void *opaque, struct error *err)
{
	/* Counted before: the report may come before rd_kafka_produce is back.
	 */
	atomic_fetch_add(&p->pending, 1);
	if (rd_kafka_produce(p->topic, RD_KAFKA_PARTITION_UA, flags,
			     unconst(payload), len, key, key_len, opaque) < 0) {
		atomic_fetch_sub(&p->pending, 1);
		return refuse(p, rd_kafka_last_error(), err);
	}
	metric_add(p->metrics.produced, 1);
	return 0;
}

int kafka_produce(struct kafka_producer *p, const void *key, size_t key_len,
		  const void *payload, size_t len, void *opaque,
		  struct error *err)
{
	return produce(p, RD_KAFKA_MSG_F_COPY, key, key_len, payload, len,
		       opaque, err);
}

int kafka_produce_in_place(struct kafka_producer *p, const void *payload,
			   size_t len, void *opaque, struct error *err)
{
	return produce(p, 0, NULL, 0, payload, len, opaque, err);
}

/* On success the message owns the headers. */
static int produce_headers(struct kafka_producer *p, const void *payload,
			   size_t len, rd_kafka_headers_t *headers,
			   void *opaque, struct error *err)
{
	union {
		const void *in;
		void *out;
	} data = {payload};
	rd_kafka_resp_err_t code;

	atomic_fetch_add(&p->pending, 1);
	code = rd_kafka_producev(p->rk, RD_KAFKA_V_RKT(p->topic),
				 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
				 RD_KAFKA_V_VALUE(data.out, len),
				 RD_KAFKA_V_HEADERS(headers),
				 RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
	if (!code) {
		metric_add(p->metrics.produced, 1);
		return 0;
	}
	atomic_fetch_sub(&p->pending, 1);
	return refuse(p, code, err);
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

	/* Not rd_kafka_flush: it would serve delivery reports on this thread.
	 */
	while ((left = atomic_load(&p->pending)) > 0 && timeout_ms > 0) {
		nanosleep(&(struct timespec){0, FLUSH_STEP_MS * 1000000}, NULL);
		timeout_ms -= FLUSH_STEP_MS;
	}
	if (left == 0)
		return 0;
	return error_set_retriable(err, ERROR_REMOTE,
				   "kafka: %zu messages not delivered", left);
}

bool kafka_producer_is_up(const struct kafka_producer *p)
{
	return kafka_watch_is_up(p->watch);
}
