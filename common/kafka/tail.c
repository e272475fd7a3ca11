#include "common/kafka/tail.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/kafka/ending.h"
#include "common/kafka/topic_limits.h"
#include "common/kafka/unreadable.h"

enum {
	ASK_MS = 3000,	   /* the timeout of a query */
	LOOK_MS = 10000,   /* the interval between checks for new partitions */
	LOOK_ASK_MS = 500, /* the timeout of such a check; no record is taken
			      meanwhile */
};

struct kafka_tail {
	rd_kafka_t *rk;
	rd_kafka_topic_t *handle;
	char *topic;
	/* By partition, the offset of the next record; empty while closed. */
	int64_t *next;
	size_t count;
	int64_t look_at; /* monotonic */
	/* Nothing has come yet from the last assignment. */
	bool is_assigning;
	/* The last batch that could not be read, and the size of the last step
	 * over it. */
	int32_t bad_partition;
	int64_t bad, step;
};

/* Returns a list of all partitions, each at `offset` or, if `next` is given, at
 * its next offset. */
static rd_kafka_topic_partition_list_t *make_list(const struct kafka_tail *t,
						  const int64_t *next,
						  size_t count, int64_t offset)
{
	rd_kafka_topic_partition_list_t *list =
		rd_kafka_topic_partition_list_new((int)count);

	for (size_t i = 0; i < count; i++)
		rd_kafka_topic_partition_list_add(list, t->topic, (int32_t)i)
			->offset = next ? next[i] : offset;
	return list;
}

/* Called before another assignment and before the client is closed. */
static void await_assignment(struct kafka_tail *t)
{
	rd_kafka_topic_partition_list_t *list;

	if (!t->is_assigning)
		return;
	list = make_list(t, NULL, t->count, RD_KAFKA_OFFSET_END);
	kafka_client_drain(t->rk, list, ASK_MS);
	rd_kafka_topic_partition_list_destroy(list);
	t->is_assigning = false;
}

/* --- building ---------------------------------------------------------- */

static rd_kafka_conf_t *tail_conf(const struct kafka_config *config,
				  const char *client_id, struct error *err)
{
	const char *const properties[][2] = {
		/* Assigning requires a group; it is never joined. */
		{"group.id", client_id},
		{"enable.auto.commit", "false"},
		{"enable.auto.offset.store", "false"},
		{"auto.offset.reset", "latest"},
		{"isolation.level", "read_committed"},
		{"check.crcs", "true"},
		{"fetch.error.backoff.ms", "20"},
		/* Records that are not taken in time are of no use. */
		{"queued.max.messages.kbytes", "8192"},
		{"queued.min.messages", "20000"},
		{"fetch.wait.max.ms", "100"},
	};
	rd_kafka_conf_t *conf = kafka_conf_new(config, client_id, err);

	if (!conf)
		return NULL;
	if (kafka_conf_set_all(conf, properties,
			       sizeof(properties) / sizeof(*properties),
			       err) == 0 &&
	    kafka_bound_answers(conf, config, 0, err) == 0)
		return conf;
	rd_kafka_conf_destroy(conf);
	return NULL;
}

static int open_handle(struct kafka_tail *t, const struct kafka_config *config,
		       const char *client_id, struct error *err)
{
	rd_kafka_conf_t *conf = tail_conf(config, client_id, err);
	char text[256] = "";

	if (!conf)
		return -1;
	t->rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
	if (!t->rk) {
		rd_kafka_conf_destroy(conf);
		return error_set(err, ERROR_CONFIG, "kafka: %s", text);
	}
	rd_kafka_poll_set_consumer(t->rk);
	t->handle = rd_kafka_topic_new(t->rk, t->topic, NULL);
	if (!t->handle)
		return error_set(err, ERROR_CONFIG, "kafka topic '%s': %s",
				 t->topic,
				 rd_kafka_err2str(rd_kafka_last_error()));
	return 0;
}

struct kafka_tail *kafka_tail_new(const struct kafka_config *config,
				  const char *client_id, const char *topic,
				  struct error *err)
{
	struct kafka_tail *t = calloc(1, sizeof(*t));

	if (t)
		t->topic = strdup(topic);
	if (!t || !t->topic)
		error_set_nomem(err);
	else if (open_handle(t, config, client_id, err) == 0)
		return t;
	kafka_tail_free(t);
	return NULL;
}

void kafka_tail_free(struct kafka_tail *t)
{
	if (!t)
		return;
	if (t->handle)
		rd_kafka_topic_destroy(t->handle);
	if (t->rk) {
		await_assignment(t);
		rd_kafka_consumer_close(t->rk);
		(void)kafka_client_destroy(t->rk, KAFKA_ENDING_MS);
	}
	free(t->next);
	free(t->topic);
	free(t);
}

/* --- partitions -------------------------------------------------------- */

static int set_topic_error(const struct kafka_tail *t, rd_kafka_resp_err_t code,
			   struct error *err)
{
	if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
	    code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
		return error_set(err, ERROR_NOTFOUND, "kafka has no topic '%s'",
				 t->topic);
	return error_set_retriable(err, ERROR_REMOTE, "kafka: topic '%s': %s",
				   t->topic, rd_kafka_err2str(code));
}

static int ask_count(struct kafka_tail *t, int timeout_ms, size_t *ret_count,
		     struct error *err)
{
	const struct rd_kafka_metadata *metadata = NULL;
	rd_kafka_resp_err_t code =
		rd_kafka_metadata(t->rk, 0, t->handle, &metadata, timeout_ms);

	*ret_count = 0;
	if (code)
		return set_topic_error(t, code, err);
	code = metadata->topic_cnt == 1
		       ? metadata->topics[0].err
		       : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
	if (!code)
		*ret_count = (size_t)metadata->topics[0].partition_cnt;
	rd_kafka_metadata_destroy(metadata);
	return code ? set_topic_error(t, code, err) : 0;
}

/* Queries the leaders for the log end of each partition. */
static int ask_ends(struct kafka_tail *t, size_t count, int64_t *next,
		    struct error *err)
{
	rd_kafka_topic_partition_list_t *list =
		make_list(t, NULL, count, RD_KAFKA_OFFSET_END);
	rd_kafka_resp_err_t code =
		rd_kafka_offsets_for_times(t->rk, list, ASK_MS);

	for (size_t i = 0; !code && i < count; i++) {
		code = list->elems[i].err;
		next[list->elems[i].partition] = list->elems[i].offset;
	}
	rd_kafka_topic_partition_list_destroy(list);
	return code ? set_topic_error(t, code, err) : 0;
}

static int assign_offsets(struct kafka_tail *t, const int64_t *next,
			  size_t count, struct error *err)
{
	rd_kafka_topic_partition_list_t *list;
	rd_kafka_resp_err_t code;

	await_assignment(t);
	list = make_list(t, next, count, 0);
	code = rd_kafka_assign(t->rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	if (code)
		return set_topic_error(t, code, err);
	t->is_assigning = true;
	return 0;
}

/* Reads all partitions from `next` on.  Takes ownership of `next`, also on
 * failure. */
static int start_from(struct kafka_tail *t, int64_t *next, size_t count,
		      struct error *err)
{
	if (assign_offsets(t, next, count, err) < 0) {
		free(next);
		return -1;
	}
	t->bad = -1;
	free(t->next);
	t->next = next;
	t->count = count;
	t->look_at = clock_monotonic_ms() + LOOK_MS;
	return 0;
}

int kafka_tail_open(struct kafka_tail *t, struct error *err)
{
	int64_t *next;
	size_t count;

	if (ask_count(t, ASK_MS, &count, err) < 0)
		return -1;
	next = calloc(count + 1, sizeof(*next));
	if (!next)
		return error_set_nomem(err);
	if (ask_ends(t, count, next, err) == 0)
		return start_from(t, next, count, err);
	free(next);
	return -1;
}

void kafka_tail_close(struct kafka_tail *t)
{
	await_assignment(t);
	rd_kafka_assign(t->rk, NULL);
	free(t->next);
	t->next = NULL;
	t->count = 0;
}

/* New partitions are read from their start; all others continue. */
static int look_for_more(struct kafka_tail *t, struct error *err)
{
	int64_t now = clock_monotonic_ms();
	int64_t *next;
	size_t count;

	if (now < t->look_at)
		return 0;
	t->look_at = now + LOOK_MS;
	if (ask_count(t, LOOK_ASK_MS, &count, err) < 0)
		return -1;
	if (count <= t->count)
		return 0;
	next = calloc(count, sizeof(*next));
	if (!next)
		return error_set_nomem(err);
	memcpy(next, t->next, t->count * sizeof(*next));
	return start_from(t, next, count, err);
}

/*
 * librdkafka does not say how long an unreadable batch is, and meets it again
 * until reading continues behind it: the step doubles each time.  So at most as
 * many records behind it are skipped as the batch has.
 */
static int step_over(struct kafka_tail *t, const rd_kafka_message_t *m,
		     struct error *err)
{
	if (!t->next || (size_t)m->partition >= t->count)
		return 0;
	if (m->partition != t->bad_partition || m->offset != t->bad)
		t->step = 0;
	t->step = t->step ? t->step * 2 : 1;
	t->bad_partition = m->partition;
	t->bad = m->offset;
	if (t->next[m->partition] < m->offset)
		t->next[m->partition] = m->offset;
	t->next[m->partition] += t->step;
	return assign_offsets(t, t->next, t->count, err);
}

/* --- records ----------------------------------------------------------- */

int kafka_tail_next(struct kafka_tail *t, int timeout_ms,
		    struct kafka_record *ret_record, struct error *err)
{
	rd_kafka_message_t *m;
	int status;

	if (t->next && look_for_more(t, err) < 0)
		return -1;
	m = rd_kafka_consumer_poll(t->rk, timeout_ms);
	if (!m)
		return 0;
	if (kafka_is_unreadable(m)) {
		t->is_assigning = false;
		status = step_over(t, m, err);
		rd_kafka_message_destroy(m);
		return status;
	}
	if (m->err) {
		error_set_retriable(err, ERROR_REMOTE, "kafka: %s",
				    rd_kafka_message_errstr(m));
		rd_kafka_message_destroy(m);
		return -1;
	}
	t->is_assigning = false;
	if (t->next && m->partition >= 0 && (size_t)m->partition < t->count)
		t->next[m->partition] = m->offset + 1;
	kafka_record_fill(ret_record, m);
	return 1;
}

int64_t kafka_tail_lag(const struct kafka_tail *t)
{
	int64_t low, high, lag = 0;

	for (size_t i = 0; t->next && i < t->count; i++)
		if (!rd_kafka_get_watermark_offsets(t->rk, t->topic, (int32_t)i,
						    &low, &high) &&
		    high > t->next[i])
			lag += high - t->next[i];
	return lag;
}
