/*
 * scripted_log.h - a partition whose batches a test defines: some can be read,
 * some cannot.  Clients are librdkafka's own, at its mock broker; the test
 * provides what is assigned and polled.
 */
#ifndef TESTS_UNIT_KAFKA_SCRIPTED_LOG_H
#define TESTS_UNIT_KAFKA_SCRIPTED_LOG_H

#include "tests/unit/kafka/mock_reader.h"

#include <dlfcn.h>
#include <time.h>

enum batch_kind {
	BATCH_READABLE,
	BATCH_HOLE,    /* offsets without a record */
	BATCH_PACKED,  /* cannot be decompressed */
	BATCH_CORRUPT, /* a wrong checksum */
};

/* A batch ends where the next one begins. */
struct scripted_batch {
	int64_t first;
	enum batch_kind kind;
	unsigned heals_at; /* the number of the fetch that can read it; 0: none
			    */
	unsigned fetches;
};

enum {
	SCRIPTED_BATCHES_MAX = 64,
	SCRIPTED_PARTITION = 3,
};

static struct {
	struct scripted_batch batches[SCRIPTED_BATCHES_MAX];
	size_t count;
	int64_t end;
	/* This event replaces every other; 0: none. */
	rd_kafka_resp_err_t event;
	bool silent;
	unsigned silent_at;	 /* from this poll on; 0: never */
	const char *complaint;	 /* reported by librdkafka at the next poll */
	const char *compression; /* the topic's; NULL: unknown */
	bool refuses_clients;
	/* The results of librdkafka's calls. */
	rd_kafka_resp_err_t assign, bounds, at_time, committed, metadata;
	unsigned committed_passes; /* refusals before that result */
	int64_t offset;		   /* for a time, or committed */
	/* The calls so far. */
	rd_kafka_t *rk;
	int64_t at; /* -1: nothing is assigned */
	unsigned assigns, unassigns, wakes, polls, pauses;
	unsigned clients, limits; /* made; requested */
	unsigned drains, drains_closed, closed;
	char fetch_bytes[24]; /* the last client's */
	rd_kafka_t *closed_client;
	rd_kafka_t *spent; /* the client that read a wrong checksum */
	bool spent_was_used;
	int64_t ahead_ms; /* the clock's error */
	void (*on_error)(rd_kafka_t *, int, const char *, void *);
	void *opaque;
} scripted;

static void *scripted_real(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	assert_non_null(found);
	return found;
}

/* --- messages --------------------------------------------------------------
 */

/* Marks messages that are made here. */
static rd_kafka_topic_t *const scripted_topic = (rd_kafka_topic_t *)&scripted;

static rd_kafka_message_t *scripted_message(rd_kafka_resp_err_t code,
					    int64_t offset)
{
	rd_kafka_message_t *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->rkt = scripted_topic;
	m->err = code;
	m->partition = SCRIPTED_PARTITION;
	m->offset = offset;
	return m;
}

void rd_kafka_message_destroy(rd_kafka_message_t *m)
{
	void (*destroy)(rd_kafka_message_t *);

	if (m->rkt == scripted_topic) {
		free(m);
		return;
	}
	*(void **)&destroy = scripted_real("rd_kafka_message_destroy");
	destroy(m);
}

const char *rd_kafka_topic_name(const rd_kafka_topic_t *topic)
{
	const char *(*name)(const rd_kafka_topic_t *);

	if (topic == scripted_topic)
		return MOCK_KAFKA_TOPIC;
	*(void **)&name = scripted_real("rd_kafka_topic_name");
	return name(topic);
}

int64_t rd_kafka_message_timestamp(const rd_kafka_message_t *m,
				   rd_kafka_timestamp_type_t *type)
{
	(void)m;
	*type = RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME;
	return 1000;
}

/* --- time: polls and pauses take none ------------------------------------- */

static _Thread_local bool scripted_clock;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static int (*get)(clockid_t, struct timespec *);
	int status;

	if (!get)
		*(void **)&get = dlsym(RTLD_NEXT, "clock_gettime");
	status = get(clock, ret);
	if (scripted_clock && clock == CLOCK_MONOTONIC)
		ret->tv_sec += scripted.ahead_ms / 1000;
	return status;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	int (*sleep)(const struct timespec *, struct timespec *);

	if (scripted_clock) {
		scripted.pauses++;
		scripted.ahead_ms +=
			time->tv_sec * 1000 + time->tv_nsec / 1000000;
		return 0;
	}
	*(void **)&sleep = scripted_real("nanosleep");
	return sleep(time, left);
}

/* --- fetches ---------------------------------------------------------------
 */

static struct scripted_batch *scripted_batch_at(int64_t offset)
{
	struct scripted_batch *found = NULL;

	for (size_t i = 0; i < scripted.count; i++)
		if (scripted.batches[i].first <= offset)
			found = &scripted.batches[i];
	return found;
}

static int64_t scripted_batch_end(const struct scripted_batch *b)
{
	return b + 1 < scripted.batches + scripted.count ? b[1].first
							 : scripted.end;
}

rd_kafka_resp_err_t rd_kafka_assign(rd_kafka_t *rk,
				    const rd_kafka_topic_partition_list_t *list)
{
	scripted.rk = rk;
	scripted.at = list ? list->elems[0].offset : -1;
	scripted.assigns += list != NULL;
	scripted.unassigns += list == NULL;
	scripted.spent_was_used |= rk == scripted.spent;
	if (list)
		assert_int_equal(list->elems[0].partition, SCRIPTED_PARTITION);
	return scripted.assign;
}

/* Like librdkafka, it returns the first offset of a batch that cannot be read,
 * wherever in the batch the fetch begins. */
static rd_kafka_message_t *scripted_fetch(rd_kafka_t *rk)
{
	struct scripted_batch *b;

	for (;;) {
		if (scripted.at >= scripted.end)
			return scripted_message(
				RD_KAFKA_RESP_ERR__PARTITION_EOF, scripted.at);
		b = scripted_batch_at(scripted.at);
		if (!b)
			return scripted_message(
				RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET,
				scripted.at);
		if (b->kind != BATCH_HOLE)
			break;
		scripted.at = scripted_batch_end(b);
	}
	if (b->kind == BATCH_READABLE ||
	    (b->heals_at && ++b->fetches >= b->heals_at))
		return scripted_message(0, scripted.at++);
	if (b->kind == BATCH_CORRUPT)
		scripted.spent = rk;
	return scripted_message(b->kind == BATCH_CORRUPT
					? RD_KAFKA_RESP_ERR__BAD_MSG
					: RD_KAFKA_RESP_ERR__BAD_COMPRESSION,
				b->first);
}

rd_kafka_message_t *rd_kafka_consumer_poll(rd_kafka_t *rk, int timeout_ms)
{
	rd_kafka_resp_err_t event = scripted.event;

	scripted.polls++;
	scripted.spent_was_used |= rk == scripted.spent;
	if (scripted.complaint)
		scripted.on_error(rk, 0, scripted.complaint, scripted.opaque);
	scripted.complaint = NULL;
	if (event) {
		scripted.event = 0;
		return scripted_message(event, -1);
	}
	scripted.silent |= scripted.polls == scripted.silent_at;
	if (scripted.silent || scripted.at < 0) {
		scripted.ahead_ms += timeout_ms;
		return NULL;
	}
	return scripted_fetch(rk);
}

/* --- queries ---------------------------------------------------------------
 */

rd_kafka_resp_err_t
rd_kafka_query_watermark_offsets(rd_kafka_t *rk, const char *topic,
				 int32_t partition, int64_t *low, int64_t *high,
				 int timeout_ms)
{
	(void)rk;
	(void)topic;
	(void)partition;
	(void)timeout_ms;
	*low = scripted.batches[0].first;
	*high = scripted.end;
	return scripted.bounds;
}

rd_kafka_resp_err_t rd_kafka_offsets_for_times(
	rd_kafka_t *rk, rd_kafka_topic_partition_list_t *list, int timeout_ms)
{
	(void)rk;
	scripted.wakes += timeout_ms == 0;
	scripted.drains += timeout_ms > 0;
	scripted.drains_closed += timeout_ms > 0 && scripted.closed > 0;
	list->elems[0].offset = scripted.offset;
	list->elems[0].err = scripted.at_time;
	return 0;
}

rd_kafka_resp_err_t rd_kafka_committed(rd_kafka_t *rk,
				       rd_kafka_topic_partition_list_t *list,
				       int timeout_ms)
{
	(void)rk;
	(void)timeout_ms;
	list->elems[0].offset = scripted.offset;
	list->elems[0].err = scripted.committed;
	if (!scripted.committed_passes)
		return 0;
	scripted.committed_passes--;
	return RD_KAFKA_RESP_ERR_NOT_COORDINATOR;
}

rd_kafka_resp_err_t rd_kafka_metadata(rd_kafka_t *rk, int all,
				      rd_kafka_topic_t *topic,
				      const struct rd_kafka_metadata **ret,
				      int timeout_ms)
{
	rd_kafka_resp_err_t (*ask)(rd_kafka_t *, int, rd_kafka_topic_t *,
				   const struct rd_kafka_metadata **, int);

	if (scripted.metadata)
		return scripted.metadata;
	*(void **)&ask = scripted_real("rd_kafka_metadata");
	return ask(rk, all, topic, ret, timeout_ms);
}

/* --- a topic's settings ----------------------------------------------------
 */

static rd_kafka_event_t *const scripted_event = (rd_kafka_event_t *)&scripted;

rd_kafka_event_t *rd_kafka_queue_poll(rd_kafka_queue_t *queue, int timeout_ms)
{
	(void)queue;
	(void)timeout_ms;
	scripted.limits++;
	return scripted.compression ? scripted_event : NULL;
}

rd_kafka_event_type_t rd_kafka_event_type(const rd_kafka_event_t *event)
{
	rd_kafka_event_type_t (*type)(const rd_kafka_event_t *);

	if (event == scripted_event)
		return RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT;
	*(void **)&type = scripted_real("rd_kafka_event_type");
	return type(event);
}

rd_kafka_resp_err_t rd_kafka_event_error(rd_kafka_event_t *event)
{
	(void)event;
	return 0;
}

void rd_kafka_event_destroy(rd_kafka_event_t *event)
{
	void (*destroy)(rd_kafka_event_t *);

	if (event == scripted_event)
		return;
	*(void **)&destroy = scripted_real("rd_kafka_event_destroy");
	destroy(event);
}

const rd_kafka_DescribeConfigs_result_t *
rd_kafka_event_DescribeConfigs_result(rd_kafka_event_t *event)
{
	return (const rd_kafka_DescribeConfigs_result_t *)event;
}

const rd_kafka_ConfigResource_t **rd_kafka_DescribeConfigs_result_resources(
	const rd_kafka_DescribeConfigs_result_t *result, size_t *count)
{
	static const rd_kafka_ConfigResource_t *resource;

	(void)result;
	*count = 1;
	return &resource;
}

rd_kafka_resp_err_t
rd_kafka_ConfigResource_error(const rd_kafka_ConfigResource_t *resource)
{
	(void)resource;
	return 0;
}

const rd_kafka_ConfigEntry_t **
rd_kafka_ConfigResource_configs(const rd_kafka_ConfigResource_t *resource,
				size_t *count)
{
	static const rd_kafka_ConfigEntry_t *entry;

	(void)resource;
	*count = 1;
	return &entry;
}

const char *rd_kafka_ConfigEntry_name(const rd_kafka_ConfigEntry_t *entry)
{
	(void)entry;
	return "compression.type";
}

const char *rd_kafka_ConfigEntry_value(const rd_kafka_ConfigEntry_t *entry)
{
	(void)entry;
	return scripted.compression;
}

/* --- clients ---------------------------------------------------------------
 */

rd_kafka_t *rd_kafka_new(rd_kafka_type_t type, rd_kafka_conf_t *conf,
			 char *text, size_t size)
{
	rd_kafka_t *(*make)(rd_kafka_type_t, rd_kafka_conf_t *, char *, size_t);
	size_t len = sizeof(scripted.fetch_bytes);

	*(void **)&make = scripted_real("rd_kafka_new");
	if (type != RD_KAFKA_CONSUMER)
		return make(type, conf, text, size);
	if (scripted.refuses_clients) {
		snprintf(text, size, "no more threads");
		return NULL;
	}
	scripted.clients++;
	rd_kafka_conf_get(conf, "fetch.message.max.bytes", scripted.fetch_bytes,
			  &len);
	return make(type, conf, text, size);
}

void rd_kafka_conf_set_error_cb(rd_kafka_conf_t *conf,
				void (*fn)(rd_kafka_t *, int, const char *,
					   void *))
{
	(void)conf;
	scripted.on_error = fn;
}

void rd_kafka_conf_set_opaque(rd_kafka_conf_t *conf, void *opaque)
{
	(void)conf;
	scripted.opaque = opaque;
}

rd_kafka_resp_err_t rd_kafka_consumer_close(rd_kafka_t *rk)
{
	rd_kafka_resp_err_t (*close)(rd_kafka_t *);

	/* Destroying a client closes it once more. */
	scripted.closed += rk != scripted.closed_client;
	scripted.closed_client = rk;
	*(void **)&close = scripted_real("rd_kafka_consumer_close");
	return close(rk);
}

/* --- a log -----------------------------------------------------------------
 */

static int scripted_set_up(void **state)
{
	mock_kafka_set_up(state);
	memset(&scripted, 0, sizeof(scripted));
	scripted.at = -1;
	scripted_clock = true;
	return 0;
}

static int scripted_tear_down(void **state)
{
	scripted_clock = false;
	mock_kafka_tear_down(state);
	assert_false(scripted.spent_was_used);
	return 0;
}

static inline void scripted_add(enum batch_kind kind, int64_t first,
				int64_t last)
{
	assert_true(scripted.count < SCRIPTED_BATCHES_MAX);
	scripted.batches[scripted.count++] =
		(struct scripted_batch){.first = first, .kind = kind};
	scripted.end = last + 1;
}

static inline void scripted_clear(void)
{
	scripted.count = 0;
	scripted.end = 0;
}

static inline struct kafka_reader *
scripted_reader(rd_kafka_mock_cluster_t *mock)
{
	/* A new client may get the address of a former one. */
	scripted.spent = scripted.closed_client = NULL;
	return mock_reader_new(mock);
}

static inline void scripted_open(struct kafka_reader *r, int64_t first,
				 int64_t end)
{
	struct error err = {0};

	if (kafka_reader_open(r, MOCK_KAFKA_TOPIC, SCRIPTED_PARTITION, first,
			      end, &err) < 0)
		fail_msg("%s", err.text);
}

#define SCRIPTED_TEST(name)                                                    \
	cmocka_unit_test_setup_teardown(name, scripted_set_up,                 \
					scripted_tear_down)

#endif
