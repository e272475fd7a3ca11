#include "redirector/lookup/invalidations.h"

#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/backoff.h"
#include "common/clock.h"
#include "common/periodic.h"
#include "common/redis/redis.h"
#include "common/redis/wire.h"
#include "linkstore/link/invalidation.h"

#define HEARTBEAT_MS 200
/* A connection without an answer for this long is closed.  Entries cease to be
 * fresh before: FRESHNESS_BOUND_MS. */
#define SILENCE_MAX_MS 2000
/* No step of connecting takes longer, so that the thread can be ended. */
#define STEP_MAX_MS    2000
#define BACKOFF_MIN_MS 50
#define BACKOFF_MAX_MS 1000
/* Size of a message: its head, and the text around the payload. */
#define MESSAGE_BYTES_MAX (INVALIDATION_MAX + 1024)

struct invalidation_metrics {
	struct metric *links, *everything, *malformed, *subscriptions,
		*subscribed, *heartbeat;
};

struct invalidations {
	struct redis_config config;
	struct freshness *freshness;
	struct health_check *health;
	struct log *log;
	struct invalidation_metrics metrics;
	struct periodic *thread;
	_Atomic bool renew;
	pthread_mutex_t lock; /* protects the next two */
	/* The Redis in which links are looked up; "": unknown. */
	char followed[FRESHNESS_RUN_ID_SIZE];
	char subscribed[FRESHNESS_RUN_ID_SIZE];
	/* Used by the thread. */
	struct redis *redis;			      /* NULL: not connected */
	unsigned failures;			      /* in a row */
	char told[sizeof(((struct error *)0)->text)]; /* reason last reported */
	int64_t asked; /* when the pending heartbeat was sent; 0: none is */
	int64_t beat;  /* when the last one was sent */
	int64_t log_after;
};

/* --- messages ------------------------------------------------------------- */

static void note_code(void *arg, const char *code, size_t len)
{
	struct invalidations *i = arg;

	freshness_note(i->freshness, code, len);
	metric_add(i->metrics.links, 1);
}

/* Logs one line a second at most: a client that may publish may do so often. */
static void log_malformed(struct invalidations *i)
{
	int64_t now = clock_monotonic_ms();

	if (now < i->log_after)
		return;
	i->log_after = now + CLOCK_SECOND;
	log_warn(i->log, "a message of changed links could not be read; all "
			 "links are looked up again");
}

static void on_message(struct invalidations *i, const redisReply *said)
{
	switch (invalidation_read(said->str, said->len, note_code, i)) {
	case INVALIDATION_CODES:
		return;
	case INVALIDATION_ALL:
		metric_add(i->metrics.everything, 1);
		break;
	case INVALIDATION_MALFORMED:
		/* The message may be of a later version, with an unknown
		 * meaning. */
		metric_add(i->metrics.malformed, 1);
		log_malformed(i);
	}
	freshness_void(i->freshness);
}

static void on_heartbeat(struct invalidations *i)
{
	if (!i->asked)
		return;
	freshness_confirm(i->freshness, i->asked);
	metric_observe(i->metrics.heartbeat,
		       (double)(clock_monotonic_ms() - i->asked) / 1e3);
	i->asked = 0;
	/* A connection that never gets this far counts as one more failure. */
	i->failures = 0;
	i->told[0] = '\0';
}

static bool is_text(const redisReply *reply, size_t element)
{
	return reply->element[element]->type == REDIS_REPLY_STRING;
}

static bool reply_is_of_kind(const redisReply *reply, const char *word)
{
	return reply->type == REDIS_REPLY_ARRAY && reply->elements >= 2 &&
	       is_text(reply, 0) && !strcmp(reply->element[0]->str, word);
}

static int on_reply(struct invalidations *i, const redisReply *reply,
		    struct error *err)
{
	if (reply_is_of_kind(reply, "message") && reply->elements == 3 &&
	    is_text(reply, 2))
		on_message(i, reply->element[2]);
	else if (reply_is_of_kind(reply, "pong") ||
		 redis_error_is(reply, "MISCONF"))
		/* Any answer to PING is enough: a server that cannot write to
		 * its disk answers with MISCONF. */
		on_heartbeat(i);
	else if (reply->type == REDIS_REPLY_ERROR)
		return error_set_retriable(err, ERROR_REMOTE, "redis: %s",
					   reply->str);
	else
		return error_set_retriable(err, ERROR_PROTOCOL,
					   "redis: a subscription got an "
					   "answer of another shape");
	return 0;
}

/* --- the connection ------------------------------------------------------- */

static int subscribe_to_changes(struct invalidations *i, struct error *err)
{
	const char *argv[] = {"SUBSCRIBE", INVALIDATION_CHANNEL};
	redisReply *reply;
	bool confirmed;

	i->redis = redis_new(&i->config, NULL, err);
	if (!i->redis || redis_command(i->redis, 2, argv, NULL, &reply, err))
		return -1;
	confirmed = reply_is_of_kind(reply, "subscribe");
	freeReplyObject(reply);
	if (!confirmed)
		return error_set_retriable(err, ERROR_PROTOCOL,
					   "redis: SUBSCRIBE got an answer of "
					   "another shape");
	return 0;
}

/* Fails if this is another Redis than the one in which links are looked up: its
 * messages are not about the links there.  It may be a former master that still
 * acts as one. */
static int go_along(struct invalidations *i, struct error *err)
{
	const char *run_id = redis_run_id(i->redis);
	bool other;

	pthread_mutex_lock(&i->lock);
	other = *run_id && *i->followed && strcmp(run_id, i->followed) != 0;
	if (!other)
		snprintf(i->subscribed, sizeof(i->subscribed), "%s", run_id);
	pthread_mutex_unlock(&i->lock);
	if (!other)
		return 0;
	return error_set_retriable(err, ERROR_REMOTE,
				   "redis: this is not the one that links are "
				   "looked up in");
}

static void go_alone(struct invalidations *i)
{
	pthread_mutex_lock(&i->lock);
	i->subscribed[0] = '\0';
	pthread_mutex_unlock(&i->lock);
}

static int ask_heartbeat(struct invalidations *i, int64_t now,
			 struct error *err)
{
	const char *argv[] = {"PING"};

	if (i->asked && now - i->asked > SILENCE_MAX_MS)
		return error_set_retriable(err, ERROR_REMOTE,
					   "redis: the subscription is silent");
	if (i->asked || now < i->beat + HEARTBEAT_MS)
		return 0;
	i->asked = i->beat = now;
	return redis_send(i->redis, 1, argv, err);
}

/* Reads the next reply, if one comes before a heartbeat is due. */
static int listen_once(struct invalidations *i, struct error *err)
{
	int64_t now = clock_monotonic_ms(), wait = HEARTBEAT_MS;
	redisReply *reply;
	int status;

	if (ask_heartbeat(i, now, err))
		return -1;
	if (!i->asked)
		wait = i->beat + HEARTBEAT_MS - now;
	status = redis_listen(i->redis, wait, MESSAGE_BYTES_MAX, &reply, err);
	if (status <= 0)
		return status;
	status = on_reply(i, reply, err);
	freeReplyObject(reply);
	return status;
}

static void tell_up(struct invalidations *i)
{
	metric_set(i->metrics.subscribed, 1);
	metric_add(i->metrics.subscriptions, 1);
	health_up(i->health);
	log_info(i->log, "subscription to changed links connected");
}

static void tell_down(struct invalidations *i, const struct error *err)
{
	char remark[sizeof(i->told) + 64];

	metric_set(i->metrics.subscribed, 0);
	if (!strcmp(i->told, err->text))
		return;
	snprintf(i->told, sizeof(i->told), "%s", err->text);
	snprintf(remark, sizeof(remark), "links are looked up every second: %s",
		 err->text);
	health_say(i->health, remark);
	log_warn(i->log, "subscription to changed links disconnected",
		 log_err(err));
}

static int listen_until_it_ends(struct invalidations *i, struct periodic *self,
				struct error *err)
{
	if (subscribe_to_changes(i, err) || go_along(i, err))
		return -1;
	freshness_resume(i->freshness, redis_run_id(i->redis));
	i->asked = i->beat = 0;
	tell_up(i);
	while (!periodic_should_stop(self, 0)) {
		if (atomic_load(&i->renew))
			return error_set_retriable(
				err, ERROR_REMOTE,
				"redis: links are looked up in another one");
		if (listen_once(i, err))
			return -1;
	}
	return 0;
}

/* Runs one connection from start to end.  Returns ms until the next. */
static int64_t run_subscription(struct periodic *self, void *arg)
{
	struct invalidations *i = arg;
	struct error err;

	atomic_store(&i->renew, false);
	if (listen_until_it_ends(i, self, &err))
		tell_down(i, &err);
	freshness_suspend(i->freshness);
	go_alone(i);
	redis_free(i->redis);
	i->redis = NULL;
	return backoff_delay(BACKOFF_MIN_MS, BACKOFF_MAX_MS, ++i->failures,
			     randombytes_random());
}

/* --- making --------------------------------------------------------------- */

#define MESSAGES "shortloop_redirector_invalidations_total"
#define MESSAGES_HELP                                                          \
	"Changes of links that were received; everything, malformed: "         \
	"messages after which all cached links are void"

static void register_metrics(struct invalidation_metrics *to, struct metrics *m)
{
	to->links = metrics_counter(m, MESSAGES, "of=\"link\"", MESSAGES_HELP);
	to->everything = metrics_counter(m, MESSAGES, "of=\"everything\"",
					 MESSAGES_HELP);
	to->malformed =
		metrics_counter(m, MESSAGES, "of=\"malformed\"", MESSAGES_HELP);
	to->subscriptions = metrics_counter(
		m, "shortloop_redirector_subscriptions_total", NULL,
		"Times that changes of links were subscribed to, after which "
		"cached links are looked up again");
	to->subscribed = metrics_gauge(
		m, "shortloop_redirector_subscribed", NULL,
		"1 while changes of links are received as they happen");
	to->heartbeat = metrics_histogram(
		m, "shortloop_redirector_heartbeat_seconds", NULL,
		"Time until the subscription gave a sign of life",
		metrics_latency_bounds, metrics_latency_bound_count);
}

struct invalidations *invalidations_new(const struct redis_config *redis,
					struct freshness *freshness,
					struct health_check *health,
					struct metrics *metrics,
					struct log *log, struct error *err)
{
	struct invalidations *i = calloc(1, sizeof(*i));

	if (!i) {
		error_set_nomem(err);
		return NULL;
	}
	i->config = redis_config_within(redis, STEP_MAX_MS);
	i->freshness = freshness;
	i->health = health;
	i->log = log;
	register_metrics(&i->metrics, metrics);
	i->thread = periodic_new(run_subscription, i, err);
	if (i->thread) {
		pthread_mutex_init(&i->lock, NULL);
		return i;
	}
	free(i);
	return NULL;
}

int invalidations_start(struct invalidations *i, struct error *err)
{
	return periodic_start(i->thread, err);
}

void invalidations_follow(struct invalidations *i, const char *run_id)
{
	bool other;

	pthread_mutex_lock(&i->lock);
	snprintf(i->followed, sizeof(i->followed), "%s", run_id);
	other = !*run_id ||
		(*i->subscribed && strcmp(i->subscribed, run_id) != 0);
	pthread_mutex_unlock(&i->lock);
	if (other)
		atomic_store(&i->renew, true);
	/* The thread may be waiting for its next try. */
	periodic_wake(i->thread);
}

void invalidations_stop(struct invalidations *i)
{
	periodic_stop(i->thread);
}

void invalidations_free(struct invalidations *i)
{
	if (!i)
		return;
	periodic_free(i->thread);
	pthread_mutex_destroy(&i->lock);
	free(i);
}
