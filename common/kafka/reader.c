#include "common/kafka/reader.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/kafka/ending.h"
#include "common/kafka/topic_limits.h"

struct kafka_reader {
	rd_kafka_t *rk;
	/* Configurations of the next client, by how much it may request. */
	rd_kafka_conf_t *confs[2];
	bool asks_for_much;
	char *known_topic; /* the topic whose limits were queried last */
	/* The client has to be replaced, see `replace_spent_client`. */
	bool is_spent;
	/* No record has come yet since the last assignment. */
	bool is_assigning;
	struct kafka_unreadable met; /* set with CAME_UNREADABLE */
	char said[256];		     /* librdkafka's last complaint */
	/* The stretch that is read. */
	char *topic;
	int32_t partition;
	int64_t next, end;
	uint64_t taken;
	bool open;
	kafka_reader_unreadable_fn *on_unreadable;
	void *arg;
	const atomic_bool *stop; /* or NULL */
};

/* Takes librdkafka's complaints, which come in the queue of records. */
static void poll_complaints(struct kafka_reader *r)
{
	rd_kafka_message_t *m = rd_kafka_consumer_poll(r->rk, 0);

	if (m)
		rd_kafka_message_destroy(m);
}

static int set_request_error(struct kafka_reader *r, const char *what,
			     const char *topic, int32_t partition,
			     rd_kafka_resp_err_t code, struct error *err)
{
	bool silent = code == RD_KAFKA_RESP_ERR__TIMED_OUT ||
		      code == RD_KAFKA_RESP_ERR__TRANSPORT ||
		      code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
	char where[16] = "";

	if (silent && !*r->said && !r->open)
		poll_complaints(r);
	/* The complaint names the broker and its fault. */
	if (silent && *r->said)
		return error_set_retriable(err, ERROR_REMOTE, "kafka: %s",
					   r->said);
	if (partition >= 0)
		snprintf(where, sizeof(where), " %d", (int)partition);
	return error_set_retriable(err, ERROR_REMOTE, "kafka: %s of %s%s: %s",
				   what, topic, where, rd_kafka_err2str(code));
}

enum {
	POLL_MS = 200,
	FETCH_BYTES = 256 * 1024, /* up to 64 MiB unpacked */
	LIMITS_MS = 3000,
	SILENCE_MS = 30000, /* longer than a broker takes to start */
	WAKE_EVERY = 8192,  /* records; less than half of what is fetched */
	/* A fault that may be the network's is retried this many times before
	 * the batch is passed over. */
	TRIES = 4,
	TRY_AGAIN_MS = 500,
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
				    size_t packed, struct error *err)
{
	const char *const properties[][2] = {
		{"group.id", group},
		{"enable.auto.commit", "false"},
		{"enable.auto.offset.store", "false"},
		{"enable.partition.eof", "true"},
		{"auto.offset.reset", "error"},
		{"isolation.level", "read_committed"},
		{"check.crcs", "true"},
		/* A batch that cannot be read is fetched again and again. */
		{"fetch.error.backoff.ms", "5"},
		/* Small limits: librdkafka adds some 350 bytes to each
		 * record. */
		{"queued.max.messages.kbytes", "8192"},
		{"queued.min.messages", "20000"},
		{"fetch.wait.max.ms", "20"},
	};
	rd_kafka_conf_t *conf = kafka_conf_new(config, client_id, err);

	if (!conf)
		return NULL;
	if (kafka_conf_set_all(conf, properties,
			       sizeof(properties) / sizeof(*properties),
			       err) < 0 ||
	    kafka_bound_answers(conf, config, packed, err) < 0) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	rd_kafka_conf_set_opaque(conf, r);
	rd_kafka_conf_set_error_cb(conf, on_error);
	return conf;
}

static void drain_partition(struct kafka_reader *r)
{
	rd_kafka_topic_partition_list_t *list = kafka_one_partition(
		r->topic, r->partition, RD_KAFKA_OFFSET_END);

	kafka_client_drain(r->rk, list, LIMITS_MS);
	rd_kafka_topic_partition_list_destroy(list);
}

/* Called before a stretch ends or begins. */
static void await_assignment(struct kafka_reader *r)
{
	if (r->is_assigning)
		drain_partition(r);
	r->is_assigning = false;
}

/* A client that met a wrong checksum has requested an offset that does not
 * exist; that request has to be answered before the client is destroyed. */
static void close_client(struct kafka_reader *r)
{
	if (!r->rk)
		return;
	await_assignment(r);
	rd_kafka_consumer_close(r->rk);
	if (r->is_spent && r->topic)
		drain_partition(r);
	(void)kafka_client_destroy(r->rk, KAFKA_ENDING_MS);
}

/* Replaces the client; on failure the old one stays. */
static int open_client(struct kafka_reader *r, struct error *err)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_dup(r->confs[r->asks_for_much]);
	char text[256] = "";
	rd_kafka_t *rk =
		rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));

	if (!rk) {
		rd_kafka_conf_destroy(conf);
		return error_set(err, ERROR_CONFIG, "kafka: %s", text);
	}
	rd_kafka_poll_set_consumer(rk);
	close_client(r);
	r->rk = rk;
	return 0;
}

struct kafka_reader *kafka_reader_new(const struct kafka_config *config,
				      const char *client_id, const char *group,
				      struct error *err)
{
	struct kafka_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->confs[false] = reader_conf(r, config, client_id, group, 0, err);
	if (r->confs[false])
		r->confs[true] = reader_conf(r, config, client_id, group,
					     FETCH_BYTES, err);
	if (r->confs[true] && open_client(r, err) == 0)
		return r;
	kafka_reader_free(r);
	return NULL;
}

void kafka_reader_free(struct kafka_reader *r)
{
	if (!r)
		return;
	close_client(r);
	for (int i = 0; i < 2; i++)
		if (r->confs[i])
			rd_kafka_conf_destroy(r->confs[i]);
	free(r->known_topic);
	free(r->topic);
	free(r);
}

/* --- opening a stretch ------------------------------------------------- */

/*
 * After a wrong checksum librdkafka 2.0 does not find the next batch: it
 * continues somewhere in the response, and may take what is there for an
 * offset, whose complaint comes at any time.  So that client is not used again.
 * A client that requests another amount is replaced as well.
 */
static int replace_spent_client(struct kafka_reader *r, struct error *err)
{
	if (!r->is_spent)
		return 0;
	if (open_client(r, err) < 0)
		return -1;
	r->is_spent = false;
	return 0;
}

/* Assigns the partition at r->next. */
static int assign_partition(struct kafka_reader *r, struct error *err)
{
	rd_kafka_topic_partition_list_t *list;
	rd_kafka_resp_err_t code;

	if (replace_spent_client(r, err) < 0) {
		r->open = false;
		return -1;
	}
	list = kafka_one_partition(r->topic, r->partition, r->next);
	code = rd_kafka_assign(r->rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	r->is_assigning = !code;
	if (!code)
		return 0;
	r->open = false;
	return set_request_error(r, "reading", r->topic, r->partition, code,
				 err);
}

/* Chooses how much to request by what the topic's records can unpack to. */
static int look_at_limits(struct kafka_reader *r, const char *topic,
			  struct error *err)
{
	struct kafka_topic_limits limits;
	struct error ignored;
	bool much;

	if (r->known_topic && !strcmp(r->known_topic, topic))
		return 0;
	if (replace_spent_client(r, err) < 0)
		return -1;
	much = kafka_topic_limits_ask(r->rk, topic, LIMITS_MS, &limits,
				      &ignored) == 0 &&
	       kafka_topic_ratio(&limits);
	free(r->known_topic);
	r->known_topic = strdup(topic);
	if (!r->known_topic)
		return error_set_nomem(err);
	r->is_spent = r->is_spent || much != r->asks_for_much;
	r->asks_for_much = much;
	return 0;
}

int kafka_reader_limits(struct kafka_reader *r, const char *topic,
			int timeout_ms, struct kafka_topic_limits *ret,
			struct error *err)
{
	return kafka_topic_limits_ask(r->rk, topic, timeout_ms, ret, err);
}

int kafka_reader_open(struct kafka_reader *r, const char *topic,
		      int32_t partition, int64_t first, int64_t end,
		      struct error *err)
{
	if (look_at_limits(r, topic, err) < 0)
		return -1;
	await_assignment(r);
	free(r->topic);
	r->topic = strdup(topic);
	if (!r->topic)
		return error_set_nomem(err);
	r->partition = partition;
	r->next = first;
	r->end = end;
	r->open = first < end;
	return r->open ? assign_partition(r, err) : 0;
}

void kafka_reader_on_unreadable(struct kafka_reader *r,
				kafka_reader_unreadable_fn *fn, void *arg)
{
	r->on_unreadable = fn;
	r->arg = arg;
}

void kafka_reader_stop_when(struct kafka_reader *r, const atomic_bool *stop)
{
	r->stop = stop;
}

/* The next thing that arrives from a partition. */
enum came {
	CAME_NOTHING, /* nothing of interest */
	CAME_RECORD,
	CAME_END,
	CAME_UNREADABLE,
	CAME_FAILURE,
};

static enum came judge_event(struct kafka_reader *r,
			     const rd_kafka_message_t *m, struct error *err)
{
	if (kafka_is_unreadable(m)) {
		kafka_unreadable_fill(&r->met, m);
		r->is_spent = r->met.may_heal;
		return CAME_UNREADABLE;
	}
	switch (m->err) {
	case RD_KAFKA_RESP_ERR__PARTITION_EOF:
		return CAME_END;
	case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
		error_set_retriable(
			err, ERROR_CONFLICT,
			"kafka dropped what was to be read of %s %d from %lld "
			"on: look again",
			r->topic, (int)r->partition, (long long)r->next);
		return CAME_FAILURE;
	case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
	case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
	case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
		error_set(err, ERROR_REMOTE, "kafka: %s",
			  rd_kafka_message_errstr(m));
		return CAME_FAILURE;
	default:
		strncpy(r->said, rd_kafka_message_errstr(m),
			sizeof(r->said) - 1);
		return CAME_NOTHING;
	}
}

/* librdkafka checks only once a second whether there is room for more; a
 * request whose answer is not awaited wakes it (see
 * kafka_consumer_keep_fetching). */
static void keep_fetching(struct kafka_reader *r)
{
	rd_kafka_topic_partition_list_t *list;

	if (++r->taken % WAKE_EVERY)
		return;
	list = kafka_one_partition(r->topic, r->partition, RD_KAFKA_OFFSET_END);
	(void)rd_kafka_offsets_for_times(r->rk, list, 0);
	rd_kafka_topic_partition_list_destroy(list);
}

/* For CAME_RECORD *ret is the record; the caller destroys it. */
static enum came await_event(struct kafka_reader *r, rd_kafka_message_t **ret,
			     struct error *err)
{
	int64_t until = clock_monotonic_ms() + SILENCE_MS;
	enum came came = CAME_NOTHING;
	rd_kafka_message_t *m = NULL;

	while (clock_monotonic_ms() < until &&
	       !(r->stop && atomic_load(r->stop))) {
		m = rd_kafka_consumer_poll(r->rk, POLL_MS);
		if (m)
			came = m->err ? judge_event(r, m, err) : CAME_RECORD;
		if (came != CAME_NOTHING)
			break;
		if (m)
			rd_kafka_message_destroy(m);
		m = NULL;
	}
	if (m && came != CAME_RECORD)
		rd_kafka_message_destroy(m);
	*ret = came == CAME_RECORD ? m : NULL;
	if (came != CAME_NOTHING) {
		r->is_assigning = false;
		return came;
	}
	error_set_retriable(err, ERROR_REMOTE,
			    "kafka: %s %d: nothing came for %d s%s%s", r->topic,
			    (int)r->partition, SILENCE_MS / 1000,
			    *r->said ? ": " : "", r->said);
	return CAME_FAILURE;
}

static void end_stretch(struct kafka_reader *r)
{
	r->open = false;
	await_assignment(r);
	if (!r->is_spent)
		rd_kafka_assign(r->rk, NULL);
}

/* --- unreadable batches --------------------------------------------------
 *
 * For a batch that it cannot read librdkafka returns the first offset, wherever
 * in the batch the fetch begins.  So the batch's last offset is searched for:
 * every offset for which that first one is returned still belongs to the batch.
 */

/* Sets *ret to true if a fetch from `offset` meets the batch that begins at
 * `first`. */
static int is_in_batch(struct kafka_reader *r, int64_t offset, int64_t first,
		       bool *ret, struct error *err)
{
	rd_kafka_message_t *m;
	enum came came;

	r->next = offset;
	if (assign_partition(r, err) < 0)
		return -1;
	came = await_event(r, &m, err);
	if (came == CAME_RECORD)
		rd_kafka_message_destroy(m);
	*ret = came == CAME_UNREADABLE && r->met.first == first;
	return came == CAME_FAILURE ? -1 : 0;
}

/* Finds the last offset of the batch at u->first. */
static int find_last(struct kafka_reader *r, struct kafka_unreadable *u,
		     struct error *err)
{
	int64_t batch = u->first;
	int64_t in = r->next > batch ? r->next : batch, out = in, at;
	int64_t step = 1, low = 0, end = 0;
	bool is_in = true;

	if (kafka_reader_bounds(r, r->topic, r->partition, &low, &end, err) < 0)
		return -1;
	for (; is_in; step *= 2) {
		/* Beyond the log's end there is nothing to fetch. */
		out = step < end - in ? in + step : end;
		is_in = false;
		if (out < end && is_in_batch(r, out, batch, &is_in, err) < 0)
			return -1;
		if (is_in)
			in = out;
	}
	while (out - in > 1) {
		at = in + (out - in) / 2;
		if (is_in_batch(r, at, batch, &is_in, err) < 0)
			return -1;
		*(is_in ? &in : &out) = at;
	}
	u->last = in;
	return 0;
}

/* Reads the batch again; returns 1 if it can be read now, or if there is
 * another batch. */
static int try_again(struct kafka_reader *r, int64_t offset,
		     const struct kafka_unreadable *u, struct error *err)
{
	static const struct timespec pause = {.tv_nsec =
						      TRY_AGAIN_MS * 1000000L};
	bool is_there = true;

	for (int i = 1; u->may_heal && is_there && i < TRIES; i++) {
		nanosleep(&pause, NULL);
		if (is_in_batch(r, offset, u->first, &is_there, err) < 0)
			return -1;
	}
	return !is_there;
}

/* Examines the batch that was met, from `offset` on.  Returns as
 * kafka_reader_probe does; afterwards the position of the reader is
 * undefined. */
static int look_at_batch(struct kafka_reader *r, int64_t offset,
			 struct kafka_unreadable *ret, struct error *err)
{
	int status;

	*ret = r->met;
	status = try_again(r, offset, ret, err);
	if (status)
		return status;
	r->next = offset;
	if (find_last(r, ret, err) < 0)
		return -1;
	if (ret->first < offset)
		ret->first = offset;
	return 0;
}

/* Continues after the batch, or at the same offset if it can be read now. */
static int pass_over(struct kafka_reader *r, struct error *err)
{
	int64_t offset = r->next;
	struct kafka_unreadable what;
	int status = look_at_batch(r, offset, &what, err);

	if (status < 0)
		return -1;
	r->next = offset;
	if (status == 0) {
		r->next = what.last + 1;
		if (what.last >= r->end)
			what.last = r->end - 1;
		if (r->on_unreadable && what.first <= what.last)
			r->on_unreadable(r->arg, r->topic, r->partition, &what);
	}
	return r->next < r->end ? assign_partition(r, err) : 0;
}

int kafka_reader_probe(struct kafka_reader *r, const char *topic,
		       int32_t partition, int64_t offset,
		       struct kafka_unreadable *ret, struct error *err)
{
	rd_kafka_message_t *m;
	enum came came;
	int status = 1;

	if (kafka_reader_open(r, topic, partition, offset, INT64_MAX, err) < 0)
		return -1;
	came = await_event(r, &m, err);
	if (came == CAME_UNREADABLE)
		status = look_at_batch(r, offset, ret, err);
	else if (came == CAME_RECORD)
		rd_kafka_message_destroy(m);
	else if (came == CAME_FAILURE)
		status = -1;
	end_stretch(r);
	return status;
}

/* --- records ------------------------------------------------------------- */

/* Returns 1 and a record of the stretch, or 0 if the record is after its end:
 * the stretch has ended. */
static int take_stretch_record(struct kafka_reader *r, rd_kafka_message_t *m,
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

static int read_next(struct kafka_reader *r, struct kafka_record *ret_record,
		     struct error *err)
{
	rd_kafka_message_t *m;
	int status = 0;

	/* The last offset may be a hole; but if it is a record, the read does
	 * not wait for anything behind it. */
	while (status == 0 && r->next < r->end) {
		switch (await_event(r, &m, err)) {
		case CAME_RECORD:
			return take_stretch_record(r, m, ret_record);
		case CAME_UNREADABLE:
			status = pass_over(r, err);
			break;
		case CAME_END:
			return 0;
		default:
			return -1;
		}
	}
	return status;
}

int kafka_reader_next(struct kafka_reader *r, struct kafka_record *ret_record,
		      struct error *err)
{
	int status;

	if (!r->open)
		return 0;
	status = read_next(r, ret_record, err);
	if (status <= 0)
		end_stretch(r);
	return status;
}

/* --- queries -------------------------------------------------------------- */

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
	return set_request_error(r, "partitions", topic, -1, code, err);
}

int kafka_reader_bounds(struct kafka_reader *r, const char *topic,
			int32_t partition, int64_t *ret_low, int64_t *ret_high,
			struct error *err)
{
	int64_t low, high;
	rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(
		r->rk, topic, partition, &low, &high, KAFKA_READER_ASK_MS);

	if (code)
		return set_request_error(r, "start and end", topic, partition,
					 code, err);
	*ret_low = low;
	*ret_high = high;
	return 0;
}

/* Returns the offset that librdkafka put into the list's only element, or -1 if
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
		status = set_request_error(r, what, one->topic, one->partition,
					   code, err);
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
		kafka_one_partition(topic, partition, real_ms);
	rd_kafka_resp_err_t code =
		rd_kafka_offsets_for_times(r->rk, list, KAFKA_READER_ASK_MS);

	return take_offset(r, "offset at a time", list, code, ret_offset, err);
}

/* True for errors that pass: a broker that has just started says for a moment
 * that it does not coordinate the group, or that it is still loading it. */
static bool is_transient_group_error(rd_kafka_resp_err_t code)
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
		if (!is_transient_group_error(code) ||
		    clock_monotonic_ms() >= end)
			return code;
		nanosleep(&pause, NULL);
	}
}

int kafka_reader_commit(struct kafka_reader *r, const char *topic,
			int32_t partition, struct kafka_committed *ret,
			struct error *err)
{
	rd_kafka_topic_partition_list_t *list =
		kafka_one_partition(topic, partition, RD_KAFKA_OFFSET_INVALID);
	rd_kafka_resp_err_t code = ask_committed(r, list);
	int status = 0;

	if (code)
		status = set_request_error(r, "committed offset", topic,
					   partition, code, err);
	else
		kafka_committed_fill(ret, &list->elems[0]);
	rd_kafka_topic_partition_list_destroy(list);
	return status;
}
