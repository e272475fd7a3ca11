#include "common/kafka/consumer.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/kafka/consumer_conf.h"
#include "common/kafka/consumer_internal.h"
#include "common/kafka/consumer_offsets.h"
#include "common/kafka/ending.h"
#include "common/kafka/watch.h"

enum {
	CLOSE_MS = 1000,
	CLOSE_POLL_MS = 20,
	SEEK_TIMEOUT_MS = 10000,
};

/* --- state ------------------------------------------------------------- */

static void tell_state(struct kafka_consumer *c, const char *reason)
{
	bool up = atomic_load(&c->up) && atomic_load(&c->assigned);

	if (!c->options.on_state)
		return;
	if (!reason && !up)
		reason = "waiting for the group to share out the partitions";
	c->options.on_state(c->options.arg, up, up ? NULL : reason);
}

static void on_watch(void *arg, bool up, const char *reason)
{
	struct kafka_consumer *c = arg;

	atomic_store(&c->up, up);
	tell_state(c, reason);
}

static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
	struct kafka_consumer *c = opaque;

	(void)rk;
	(void)code;
	kafka_watch_note(c->watch, reason);
	kafka_watch_look(c->watch);
}

/* --- assignment and revocation ----------------------------------------- */

static void assign_partitions(struct kafka_consumer *c, rd_kafka_t *rk,
			      rd_kafka_topic_partition_list_t *list)
{
	rd_kafka_error_t *error;

	/* The caller chooses the first offset, by a seek.  An explicit offset
	 * makes librdkafka accept that seek at once, without a query; the pause
	 * keeps it from fetching until then. */
	for (int i = 0; i < list->cnt; i++)
		list->elems[i].offset = 0;
	error = rd_kafka_incremental_assign(rk, list);
	if (error) {
		kafka_watch_note(c->watch, rd_kafka_error_string(error));
		rd_kafka_error_destroy(error);
	}
	rd_kafka_pause_partitions(rk, list);
	for (int i = 0; i < list->cnt; i++)
		if (c->options.on_assigned)
			c->options.on_assigned(c->options.arg,
					       list->elems[i].topic,
					       list->elems[i].partition);
	atomic_store(&c->assigned, true);
	c->was_assigned = true;
	tell_state(c, NULL);
}

static void revoke_partitions(struct kafka_consumer *c, rd_kafka_t *rk,
			      rd_kafka_topic_partition_list_t *list)
{
	bool lost = rd_kafka_assignment_lost(rk);
	rd_kafka_error_t *error;

	for (int i = 0; i < list->cnt; i++)
		if (c->options.on_revoked)
			c->options.on_revoked(c->options.arg,
					      list->elems[i].topic,
					      list->elems[i].partition, lost);
	/* A partition that is given back while paused would be paused when it
	 * is assigned again. */
	rd_kafka_resume_partitions(rk, list);
	error = rd_kafka_incremental_unassign(rk, list);
	if (error)
		rd_kafka_error_destroy(error);
	if (lost) {
		atomic_store(&c->assigned, false);
		tell_state(c, "the group took the partitions away");
	}
}

static void on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t code,
			 rd_kafka_topic_partition_list_t *list, void *opaque)
{
	struct kafka_consumer *c = opaque;
	rd_kafka_error_t *error;

	switch (code) {
	case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS:
		assign_partitions(c, rk, list);
		break;
	case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:
		revoke_partitions(c, rk, list);
		break;
	default:
		kafka_watch_note(c->watch, rd_kafka_err2str(code));
		error = rd_kafka_incremental_unassign(rk, list);
		if (error)
			rd_kafka_error_destroy(error);
	}
}

/* --- building ---------------------------------------------------------- */

static rd_kafka_conf_t *
consumer_conf(struct kafka_consumer *c, const struct kafka_config *config,
	      const struct kafka_consumer_options *options, struct error *err)
{
	rd_kafka_conf_t *conf = kafka_conf_new(config, options->client_id, err);

	if (!conf)
		return NULL;
	if (consumer_conf_set(conf, config, options, err) < 0) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	rd_kafka_conf_set_opaque(conf, c);
	rd_kafka_conf_set_error_cb(conf, on_error);
	rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
	return conf;
}

static int subscribe_to_topics(struct kafka_consumer *c, struct error *err)
{
	rd_kafka_topic_partition_list_t *list =
		rd_kafka_topic_partition_list_new(4);
	rd_kafka_resp_err_t code;

	for (const char *const *t = c->options.topics; *t; t++)
		rd_kafka_topic_partition_list_add(list, *t,
						  RD_KAFKA_PARTITION_UA);
	code = rd_kafka_subscribe(c->rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	if (!code)
		return 0;
	return error_set(err, ERROR_CONFIG, "kafka: subscribe: %s",
			 rd_kafka_err2str(code));
}

static int open_handle(struct kafka_consumer *c,
		       const struct kafka_config *config,
		       const struct kafka_consumer_options *options,
		       struct error *err)
{
	rd_kafka_conf_t *conf = consumer_conf(c, config, options, err);
	char text[256] = "";

	if (!conf)
		return -1;
	c->rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
	if (!c->rk) {
		rd_kafka_conf_destroy(conf);
		return error_set(err, ERROR_CONFIG, "kafka: %s", text);
	}
	/* One queue carries records and callbacks: poll serves both. */
	rd_kafka_poll_set_consumer(c->rk);
	c->queue = rd_kafka_queue_get_consumer(c->rk);
	c->commits = rd_kafka_queue_new(c->rk);
	c->topic = rd_kafka_topic_new(c->rk, options->topics[0], NULL);
	if (!c->topic)
		return error_set(err, ERROR_CONFIG, "kafka topic '%s': %s",
				 options->topics[0],
				 rd_kafka_err2str(rd_kafka_last_error()));
	return 0;
}

struct kafka_consumer *
kafka_consumer_new(const struct kafka_config *config,
		   const struct kafka_consumer_options *options,
		   struct metrics *metrics, struct error *err)
{
	struct kafka_consumer *c = calloc(1, sizeof(*c));

	if (!c) {
		error_set_nomem(err);
		return NULL;
	}
	c->options = *options;
	if (open_handle(c, config, options, err) < 0)
		goto fail;
	c->watch = kafka_watch_new(c->rk, c->topic, on_watch, c, metrics, err);
	if (!c->watch || subscribe_to_topics(c, err) < 0)
		goto fail;
	return c;
fail:
	kafka_consumer_free(c);
	return NULL;
}

void kafka_consumer_close(struct kafka_consumer *c, int timeout_ms)
{
	int64_t until = clock_monotonic_ms() + timeout_ms;
	rd_kafka_message_t *m;
	rd_kafka_error_t *error;

	if (c->closing)
		return;
	c->closing = true;
	error = rd_kafka_consumer_close_queue(c->rk, c->queue);
	if (error) {
		rd_kafka_error_destroy(error);
		return;
	}
	while (!rd_kafka_consumer_closed(c->rk) &&
	       clock_monotonic_ms() < until) {
		m = rd_kafka_consumer_poll(c->rk, CLOSE_POLL_MS);
		if (m)
			rd_kafka_message_destroy(m);
	}
}

/* Destroying a client that is not closed would block.  Besides, librdkafka
 * before 2.3 aborts on a member that has joined and was assigned no partitions
 * yet: such a client has left the group, and stays until the process ends. */
static bool can_be_destroyed(const struct kafka_consumer *c)
{
	return rd_kafka_consumer_closed(c->rk) &&
	       (c->was_assigned || rd_kafka_version() >= 0x02030000);
}

void kafka_consumer_free(struct kafka_consumer *c)
{
	if (!c)
		return;
	kafka_watch_stop(c->watch);
	if (c->topic)
		rd_kafka_topic_destroy(c->topic);
	if (c->rk) {
		if (c->queue)
			kafka_consumer_close(c, CLOSE_MS);
		if (c->queue)
			rd_kafka_queue_destroy(c->queue);
		if (c->commits)
			rd_kafka_queue_destroy(c->commits);
		if (can_be_destroyed(c))
			(void)kafka_client_destroy(c->rk, KAFKA_ENDING_MS);
	}
	kafka_watch_free(c->watch);
	free(c);
}

/* --- reading ----------------------------------------------------------- */

static void count_fetched(struct kafka_consumer *c, size_t len)
{
	/* The mean of about the last 1000 records. */
	c->mean_bytes += ((double)len - c->mean_bytes) / 1024;
}

static void report_unreadable(struct kafka_consumer *c,
			      const rd_kafka_message_t *m)
{
	struct kafka_unreadable what;

	/* The brokers are up: the fault is in the partition. */
	kafka_watch_saw_life(c->watch);
	kafka_unreadable_fill(&what, m);
	c->options.on_unreadable(c->options.arg, rd_kafka_topic_name(m->rkt),
				 m->partition, &what);
}

/* Handles an event that arrives in place of a record.  Most events are
 * temporary, and the watch reports the rest; returns -1 for an error that is
 * permanent. */
static int judge_event(struct kafka_consumer *c, const rd_kafka_message_t *m,
		       struct error *err)
{
	char text[256];

	if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
		if (c->options.on_end)
			c->options.on_end(c->options.arg,
					  rd_kafka_topic_name(m->rkt),
					  m->partition, m->offset);
		return 0;
	}
	if (kafka_is_unreadable(m)) {
		report_unreadable(c, m);
		return 0;
	}
	if (rd_kafka_fatal_error(c->rk, text, sizeof(text)))
		return error_set(err, ERROR_UNSAFE, "kafka: %s", text);
	if (m->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
	    m->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
		return error_set(err, ERROR_CONFIG, "kafka: %s",
				 rd_kafka_message_errstr(m));
	kafka_watch_note(c->watch, rd_kafka_message_errstr(m));
	kafka_watch_look(c->watch);
	return 0;
}

int kafka_consumer_poll(struct kafka_consumer *c, int timeout_ms,
			struct kafka_record *ret_record, struct error *err)
{
	rd_kafka_message_t *m = rd_kafka_consumer_poll(c->rk, timeout_ms);
	int status;

	if (!m)
		return 0;
	if (!m->err) {
		kafka_watch_saw_life(c->watch);
		kafka_record_fill(ret_record, m);
		count_fetched(c, m->len);
		return 1;
	}
	status = judge_event(c, m, err);
	rd_kafka_message_destroy(m);
	return status;
}

/* --- partitions ----------------------------------------------------------- */

int kafka_consumer_pause(struct kafka_consumer *c, const char *topic,
			 int32_t partition, bool pause, struct error *err)
{
	rd_kafka_topic_partition_list_t *list =
		kafka_one_partition(topic, partition, RD_KAFKA_OFFSET_INVALID);
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
	rd_kafka_topic_partition_list_t *list =
		kafka_one_partition(topic, partition, offset);
	rd_kafka_error_t *error =
		rd_kafka_seek_partitions(c->rk, list, SEEK_TIMEOUT_MS);
	int status = 0;

	if (error) {
		status = error_set_retriable(err, ERROR_REMOTE,
					     "kafka: seek: %s",
					     rd_kafka_error_string(error));
		rd_kafka_error_destroy(error);
	} else if (list->elems[0].err) {
		status = error_set_retriable(
			err, ERROR_REMOTE, "kafka: seek in %s %d: %s", topic,
			(int)partition, rd_kafka_err2str(list->elems[0].err));
	}
	rd_kafka_topic_partition_list_destroy(list);
	return status;
}

/* --- fetching ahead ------------------------------------------------------- */

size_t kafka_consumer_fetched(const struct kafka_consumer *c)
{
	return c->queue ? rd_kafka_queue_length(c->queue) : 0;
}

static bool was_plenty(const struct kafka_consumer *c)
{
	double bytes = (double)c->most_fetched * c->mean_bytes;

	return c->most_fetched >= c->options.fetch_events / 2 ||
	       bytes >= (double)c->options.fetch_bytes / 2;
}

/*
 * Any request to a broker wakes the thread that fetches records from it.  This
 * one is small, and its answer is not awaited.
 */
static void wake_brokers(struct kafka_consumer *c)
{
	rd_kafka_resp_err_t code;
	rd_kafka_topic_partition_list_t *list =
		kafka_consumer_ends(c, 0, &code);

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
