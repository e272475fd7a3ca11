#include "common/kafka/watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/periodic.h"

enum {
	ASK_TIMEOUT_MS = 2000,
	ASK_EVERY_UP_MS = 3000,
	ASK_EVERY_DOWN_MS = 500,
	ASK_PAUSE_MS = 200, /* between two queries, in any case */
	REASON_MAX = 256
};

struct kafka_watch {
	pthread_mutex_t asking; /* guards the fields up to `failure` */
	rd_kafka_t *rk;
	rd_kafka_topic_t *topic;
	char failure[REASON_MAX]; /* the replaced client's; not reported yet */
	kafka_state_fn *on_state;
	void *arg;
	struct metric *up_metric;

	struct periodic *thread;
	atomic_bool look_now;
	pthread_mutex_t lock; /* guards `note` */
	char note[REASON_MAX];

	atomic_bool up;
	atomic_int_least64_t life_ms; /* time of the last acknowledgement */
	bool told;		      /* from here on used by the thread only */
	char reason[REASON_MAX];
};

static void report_state(struct kafka_watch *w, bool up, const char *reason)
{
	if (w->told && atomic_load(&w->up) == up &&
	    (up || !strcmp(w->reason, reason)))
		return;
	w->told = true;
	snprintf(w->reason, sizeof(w->reason), "%s", up ? "" : reason);
	atomic_store(&w->up, up);
	metric_set(w->up_metric, up);
	if (w->on_state)
		w->on_state(w->arg, up, up ? NULL : w->reason);
}

/* Returns the error of the topic, or of its partitions if none has a leader.
 * While one has a leader, messages are still stored, and the others wait for an
 * election. */
static rd_kafka_resp_err_t
metadata_error(const struct rd_kafka_metadata *metadata)
{
	const struct rd_kafka_metadata_topic *topic;

	if (metadata->topic_cnt != 1)
		return RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
	topic = &metadata->topics[0];
	if (topic->err)
		return topic->err;
	for (int i = 0; i < topic->partition_cnt; i++)
		if (topic->partitions[i].leader >= 0)
			return RD_KAFKA_RESP_ERR_NO_ERROR;
	return RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
}

/* librdkafka's own message ("Connect to ... failed: Connection refused")
 * explains more than the timeout of the query. */
static void describe_query_failure(struct kafka_watch *w,
				   rd_kafka_resp_err_t code,
				   char reason[REASON_MAX])
{
	pthread_mutex_lock(&w->lock);
	if (w->note[0])
		snprintf(reason, REASON_MAX, "%s", w->note);
	else
		snprintf(reason, REASON_MAX, "no answer from the brokers: %s",
			 rd_kafka_err2str(code));
	pthread_mutex_unlock(&w->lock);
}

static void forget_note(struct kafka_watch *w)
{
	pthread_mutex_lock(&w->lock);
	w->note[0] = '\0';
	pthread_mutex_unlock(&w->lock);
}

static void tell_replaced(struct kafka_watch *w)
{
	if (!w->failure[0])
		return;
	report_state(w, false, w->failure);
	w->failure[0] = '\0';
	forget_note(w);
}

static void ask_brokers(struct kafka_watch *w)
{
	const struct rd_kafka_metadata *metadata = NULL;
	rd_kafka_resp_err_t code;
	char reason[REASON_MAX] = "";

	if (rd_kafka_fatal_error(w->rk, reason, sizeof(reason))) {
		report_state(w, false, reason);
		return;
	}
	code = rd_kafka_metadata(w->rk, 0, w->topic, &metadata, ASK_TIMEOUT_MS);
	if (code) {
		describe_query_failure(w, code, reason);
		report_state(w, false, reason);
		return;
	}
	forget_note(w);
	code = metadata_error(metadata);
	rd_kafka_metadata_destroy(metadata);
	snprintf(reason, sizeof(reason), "topic %s: %s",
		 rd_kafka_topic_name(w->topic), rd_kafka_err2str(code));
	report_state(w, code == RD_KAFKA_RESP_ERR_NO_ERROR, reason);
}

static void refresh_state(struct kafka_watch *w)
{
	pthread_mutex_lock(&w->asking);
	tell_replaced(w);
	ask_brokers(w);
	pthread_mutex_unlock(&w->asking);
}

static bool alive_lately(const struct kafka_watch *w)
{
	return clock_monotonic_ms() - atomic_load(&w->life_ms) <
	       ASK_EVERY_UP_MS;
}

static int64_t watch_brokers(struct periodic *self, void *arg)
{
	struct kafka_watch *w = arg;
	bool look_now = atomic_exchange(&w->look_now, false);

	/* An acknowledgement only keeps the state up and never makes it up: one
	 * from just before the brokers went away must not do that. */
	if (look_now || !atomic_load(&w->up) || !alive_lately(w))
		refresh_state(w);
	periodic_should_stop(self, ASK_PAUSE_MS);
	return (atomic_load(&w->up) ? ASK_EVERY_UP_MS : ASK_EVERY_DOWN_MS) -
	       ASK_PAUSE_MS;
}

struct kafka_watch *kafka_watch_new(rd_kafka_t *rk, rd_kafka_topic_t *topic,
				    kafka_state_fn *on_state, void *arg,
				    struct metrics *metrics, struct error *err)
{
	struct kafka_watch *w = calloc(1, sizeof(*w));
	char labels[300];

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->rk = rk;
	w->topic = topic;
	w->on_state = on_state;
	w->arg = arg;
	atomic_store(&w->life_ms, INT64_MIN / 2);
	atomic_store(&w->look_now, true);
	snprintf(labels, sizeof(labels), "topic=\"%s\"",
		 rd_kafka_topic_name(topic));
	if (metrics)
		w->up_metric =
			metrics_gauge(metrics, "shortloop_kafka_up", labels,
				      "1 when the topic can be written");
	pthread_mutex_init(&w->asking, NULL);
	pthread_mutex_init(&w->lock, NULL);
	w->thread = periodic_new(watch_brokers, w, err);
	if (w->thread && periodic_start(w->thread, err) == 0)
		return w;
	error_wrap(err, "kafka");
	kafka_watch_free(w);
	return NULL;
}

void kafka_watch_stop(struct kafka_watch *w)
{
	if (!w)
		return;
	periodic_stop(w->thread);
}

void kafka_watch_free(struct kafka_watch *w)
{
	if (!w)
		return;
	periodic_free(w->thread);
	pthread_mutex_destroy(&w->asking);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void kafka_watch_replace(struct kafka_watch *w, rd_kafka_t *rk,
			 rd_kafka_topic_t *topic, const char *reason)
{
	pthread_mutex_lock(&w->asking);
	w->rk = rk;
	w->topic = topic;
	snprintf(w->failure, sizeof(w->failure), "%s", reason);
	pthread_mutex_unlock(&w->asking);
	kafka_watch_look(w);
}

void kafka_watch_saw_life(struct kafka_watch *w)
{
	if (!w)
		return;
	atomic_store(&w->life_ms, clock_monotonic_ms());
	if (!atomic_load(&w->up))
		kafka_watch_look(w);
}

void kafka_watch_note(struct kafka_watch *w, const char *reason)
{
	const char *detail;
	int len;

	if (!w || !reason)
		return;
	/* "(after 3ms in state CONNECT, 2 identical error(s) suppressed)" would
	 * make the same failure a new reason each time. */
	detail = strstr(reason, " (after ");
	len = (int)(detail ? (size_t)(detail - reason) : strlen(reason));
	pthread_mutex_lock(&w->lock);
	snprintf(w->note, sizeof(w->note), "%.*s", len, reason);
	pthread_mutex_unlock(&w->lock);
}

void kafka_watch_look(struct kafka_watch *w)
{
	if (!w || atomic_exchange(&w->look_now, true))
		return;
	periodic_wake(w->thread);
}

bool kafka_watch_is_up(const struct kafka_watch *w)
{
	return w && atomic_load(&w->up);
}
