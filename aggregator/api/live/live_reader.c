#include "aggregator/api/live/live_reader.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/live/live_owners.h"
#include "common/clock.h"
#include "common/kafka/tail.h"
#include "common/periodic.h"

enum {
	POLL_MS = 100,
	RECORDS_A_TURN = 256,
	RETRY_MS = 1000, /* after the brokers did not answer */
	LOG_MS = 10000,
};

struct live_reader {
	struct live_reader_options options;
	struct kafka_tail *tail;
	struct live_owners *owners;
	struct metric *rejected, *lag;
	int64_t logged_at;
	struct periodic *thread;

	pthread_mutex_t lock;	    /* protects what follows */
	size_t all;		    /* listeners that see all */
	struct live_listener *some; /* the other listeners */
	bool ready; /* the tail is open; changed by the thread alone */
};

static void log_trouble(struct live_reader *r, const char *what,
			const struct error *err)
{
	int64_t now = clock_monotonic_ms();

	if (r->logged_at && now - r->logged_at < LOG_MS)
		return;
	r->logged_at = now;
	log_warn(r->options.log, what, log_err(err));
}

/* --- records -------------------------------------------------------------- */

static void on_owner_found(void *arg, struct live_event *e)
{
	const struct live_reader *r = arg;

	r->options.on_event(r->options.arg, e, SEES_SOME);
}

static void on_owner_lost(void *arg, uint64_t events)
{
	const struct live_reader *r = arg;

	r->options.on_lost(r->options.arg, events, SEES_SOME);
}

/* Returns whether a listener that does not see all links may see the event, by
 * account and owner in the click.  Only then are the link's present ones looked
 * up, so that clicks of others, of which there may be thousands a second, cost
 * nothing. */
static bool somebody_may_see(struct live_reader *r, const struct live_event *e)
{
	const struct live_listener *at;

	pthread_mutex_lock(&r->lock);
	for (at = r->some; at; at = at->next)
		if (!strcmp(at->account, e->account) &&
		    key_names_have(at->owners, e->owner))
			break;
	pthread_mutex_unlock(&r->lock);
	return at;
}

static void take_record(struct live_reader *r,
			const struct kafka_record *record)
{
	struct error err = {0};
	struct live_event *e =
		live_event_parse(record->payload, record->len, &err);

	if (!e) {
		metric_add(r->rejected, 1);
		log_trouble(r, "live event rejected", &err);
		return;
	}
	r->options.on_event(r->options.arg, e, SEES_ALL);
	if (e->link_id && somebody_may_see(r, e))
		live_owners_find(r->owners, e);
	live_event_release(e);
}

static void read_some(struct live_reader *r)
{
	struct kafka_record record;
	struct error err = {0};
	int got;

	for (int i = 0; i < RECORDS_A_TURN; i++) {
		got = kafka_tail_next(r->tail, i ? 0 : POLL_MS, &record, &err);
		if (got < 0)
			log_trouble(r, "live topic disconnected, retrying",
				    &err);
		if (got <= 0)
			break;
		take_record(r, &record);
		kafka_record_release(&record);
	}
	live_owners_ask(r->owners);
	metric_set(r->lag, kafka_tail_lag(r->tail));
}

/* --- the thread ----------------------------------------------------------- */

static bool has_listeners(struct live_reader *r)
{
	bool any;

	pthread_mutex_lock(&r->lock);
	any = r->all || r->some;
	pthread_mutex_unlock(&r->lock);
	return any;
}

static void set_ready(struct live_reader *r, bool ready)
{
	pthread_mutex_lock(&r->lock);
	r->ready = ready;
	pthread_mutex_unlock(&r->lock);
}

static void close_tail(struct live_reader *r)
{
	set_ready(r, false);
	kafka_tail_close(r->tail);
	metric_set(r->lag, 0);
}

static void open_tail(struct live_reader *r, struct periodic *self)
{
	struct error err = {0};

	if (kafka_tail_open(r->tail, &err) < 0) {
		log_trouble(r, "live topic cannot be read, retrying", &err);
		periodic_should_stop(self, RETRY_MS);
		return;
	}
	set_ready(r, true);
	r->options.on_ready(r->options.arg);
}

/* A listener that joins wakes the thread. */
static int64_t read_live_topic(struct periodic *self, void *arg)
{
	struct live_reader *r = arg;
	bool wanted = has_listeners(r);

	if (!wanted && r->ready)
		close_tail(r);
	else if (!wanted)
		return PERIODIC_NEVER;
	else if (r->ready)
		read_some(r);
	else
		open_tail(r, self);
	return 0;
}

void live_reader_join(struct live_reader *r, struct live_listener *listener)
{
	pthread_mutex_lock(&r->lock);
	if (listener->audience == SEES_ALL) {
		r->all++;
	} else {
		listener->prev = NULL;
		listener->next = r->some;
		if (r->some)
			r->some->prev = listener;
		r->some = listener;
	}
	pthread_mutex_unlock(&r->lock);
	periodic_wake(r->thread);
}

void live_reader_leave(struct live_reader *r, struct live_listener *listener)
{
	pthread_mutex_lock(&r->lock);
	if (listener->audience == SEES_ALL) {
		r->all--;
	} else {
		if (listener->prev)
			listener->prev->next = listener->next;
		else
			r->some = listener->next;
		if (listener->next)
			listener->next->prev = listener->prev;
	}
	pthread_mutex_unlock(&r->lock);
}

bool live_reader_is_ready(struct live_reader *r)
{
	bool ready;

	pthread_mutex_lock(&r->lock);
	ready = r->ready;
	pthread_mutex_unlock(&r->lock);
	return ready;
}

/* --- start and end -------------------------------------------------------- */

static void register_metrics(struct live_reader *r, struct metrics *m)
{
	r->rejected = metrics_counter(
		m, "shortloop_aggregator_live_rejected_total", NULL,
		"Records of kafka.topic_live that are no clicks.");
	r->lag = metrics_gauge(m, "shortloop_aggregator_live_lag_events", NULL,
			       "Records of kafka.topic_live not yet read.");
}

struct live_reader *live_reader_new(const struct live_reader_options *options,
				    struct error *err)
{
	struct live_reader *r = calloc(1, sizeof(*r));
	const struct live_owners_options owners = {
		.workers = options->workers,
		.connections = options->connections,
		.ender = options->ender,
		.timeout = options->config->aggregator.answer_timeout,
		.log = options->log,
		.found = on_owner_found,
		.lost = on_owner_lost,
		.arg = r,
	};

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->options = *options;
	pthread_mutex_init(&r->lock, NULL);
	register_metrics(r, options->metrics);
	r->owners = live_owners_new(&owners, err);
	if (r->owners)
		r->tail = kafka_tail_new(
			&options->config->kafka, "shortloop-aggregator-live",
			options->config->kafka.topic_live, err);
	if (r->tail)
		r->thread = periodic_new(read_live_topic, r, err);
	if (r->thread)
		return r;
	live_reader_free(r);
	return NULL;
}

int live_reader_start(struct live_reader *r, struct error *err)
{
	return periodic_start(r->thread, err);
}

void live_reader_stop(struct live_reader *r)
{
	periodic_stop(r->thread);
}

void live_reader_free(struct live_reader *r)
{
	if (!r)
		return;
	periodic_free(r->thread);
	kafka_tail_free(r->tail);
	live_owners_free(r->owners);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
