#include "aggregator/api/live/live_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "aggregator/api/archive.h"
#include "common/clock.h"
#include "common/kafka/tail.h"
#include "common/wake.h"

enum {
	POLL_MS = 100,
	RECORDS_A_TURN = 256,
	RETRY_MS = 1000, /* after the brokers did not answer */
	LOG_MS = 10000,
	KNOWN_BITS = 14,
	KNOWN_MAX = 1 << KNOWN_BITS, /* links */
	KNOWN_MS = 10000,
	WAITING_MAX = 4096, /* events */
	WAIT_MS = 1500,	    /* for a link that is not in the archive yet */
	PAUSE_MS = 200,	    /* between two questions */
	ASK_MAX = 1000,	    /* links in one */
};

/* --- whose links are -------------------------------------------------------
 *
 * For subscribers who do not see all of them.  The archive says it, as for all
 * of the API (access.h).  It is asked by a worker, for all links at once that
 * clicks wait for, one question at a time; what it said is good for some
 * seconds.  A link that it does not have yet, since its own event is still on
 * its way, is asked for again for a moment; then nobody sees the click but
 * those who see all.
 */

struct live_owners_options {
	struct workers *workers;
	struct clickhouse *const *connections; /* one a worker */
	struct query_ender *ender;
	int64_t timeout; /* of a question, ms */
	struct log *log;
	/* The event's `whose` is filled in; from any thread, one call at a
	 * time.  Shares the event if it keeps it. */
	void (*found)(void *arg, struct live_event *e);
	/* So many events did not fit. */
	void (*lost)(void *arg, uint64_t events);
	void *arg;
};

/* Its own among those of keys (access_turn), which are hashes. */
#define TURN_OF_OWNERS 1

/* Direct-mapped: of links that share an entry the last one stays. */
struct known {
	uint64_t link_id; /* 0: none */
	int64_t until;	  /* monotonic */
	struct link_owner owner;
};

struct waiting {
	struct live_event *event;
	int64_t until;	/* monotonic */
	uint64_t round; /* in which it was asked for last; 0: in none */
};

struct live_owners {
	struct work work; /* first: the question that a worker asks */
	struct live_owners_options options;
	pthread_mutex_t lock; /* of what follows, and of calls of `found` */
	struct known known[KNOWN_MAX];
	struct waiting waiting[WAITING_MAX]; /* in the order that they came */
	size_t count;
	uint64_t round; /* of questions, from 1 on */
	bool asking;	/* the worker has the question */
	int64_t ask_at; /* monotonic: not before */
	/* The asking thread's, and the worker's while it asks. */
	uint64_t links[ASK_MAX];
	size_t link_count;
	int64_t logged_at;
};

/* By Fibonacci hashing (Knuth, volume 3, 6.4). */
static struct known *known_of(struct live_owners *o, uint64_t link_id)
{
	uint64_t hash = link_id * UINT64_C(0x9e3779b97f4a7c15);

	return &o->known[hash >> (64 - KNOWN_BITS)];
}

/* Under the lock.  False: it has to be asked. */
static bool hand_out(struct live_owners *o, struct live_event *e, int64_t now)
{
	const struct known *k = known_of(o, e->link_id);

	if (k->link_id != e->link_id || k->until < now)
		return false;
	if (link_owner_copy(&e->whose, k->owner.account, k->owner.owner))
		o->options.found(o->options.arg, e);
	else
		o->options.lost(o->options.arg, 1);
	return true;
}

/* Shares the event until it is found or given up. */
static void live_owners_find(struct live_owners *o, struct live_event *e)
{
	int64_t now = clock_monotonic_ms();

	pthread_mutex_lock(&o->lock);
	if (hand_out(o, e, now))
		;
	else if (o->count == WAITING_MAX)
		o->options.lost(o->options.arg, 1);
	else
		o->waiting[o->count++] =
			(struct waiting){live_event_share(e), now + WAIT_MS, 0};
	pthread_mutex_unlock(&o->lock);
}

static void take_owner(void *arg, uint64_t link_id,
		       const struct key_link *whose)
{
	struct live_owners *o = arg;
	struct known *k = known_of(o, link_id);
	struct link_owner owner;

	if (!link_owner_copy(&owner, whose->account, whose->owner))
		return;
	pthread_mutex_lock(&o->lock);
	link_owner_release(&k->owner);
	*k = (struct known){link_id, clock_monotonic_ms() + KNOWN_MS, owner};
	pthread_mutex_unlock(&o->lock);
}

/* Under the lock: what is known by now is handed out, what was asked for and
 * has waited for too long is given up.  It is lost where nobody could be asked.
 */
static void settle_waiting(struct live_owners *o, bool answered)
{
	int64_t now = clock_monotonic_ms();
	size_t left = 0;

	for (size_t i = 0; i < o->count; i++) {
		struct waiting *w = &o->waiting[i];

		if (hand_out(o, w->event, now)) {
			live_event_release(w->event);
		} else if (now < w->until || !w->round) {
			o->waiting[left++] = *w;
		} else {
			live_event_release(w->event);
			if (!answered)
				o->options.lost(o->options.arg, 1);
		}
	}
	o->count = left;
}

static void log_failure(struct live_owners *o, const struct error *err)
{
	int64_t now = clock_monotonic_ms();

	if (o->logged_at && now - o->logged_at < LOG_MS)
		return;
	o->logged_at = now;
	log_warn(o->options.log, "live: cannot ask whose links are",
		 log_err(err));
}

static int find_owners(struct live_owners *o, struct clickhouse *ch,
		       struct error *err)
{
	struct clickhouse_task task = {
		.priority = QUESTION_PRIORITY,
		.deadline = clock_monotonic_ms() + o->options.timeout,
	};
	int status;

	query_ender_name(o->options.ender, &task);
	clickhouse_set_task(ch, &task);
	status = archive_find_owners(ch, o->links, o->link_count, take_owner, o,
				     err);
	clickhouse_set_task(ch, NULL);
	query_ender_finish(o->options.ender, &task);
	return status;
}

static void ask_archive(struct work *work, unsigned index)
{
	struct live_owners *o = (struct live_owners *)work;
	struct error err = {0};
	bool answered =
		find_owners(o, o->options.connections[index], &err) == 0;

	if (!answered)
		log_failure(o, &err);
	pthread_mutex_lock(&o->lock);
	settle_waiting(o, answered);
	o->ask_at = clock_monotonic_ms() + PAUSE_MS;
	o->asking = false;
	pthread_mutex_unlock(&o->lock);
}

/* Under the lock.  A busy link may come more than once: the server does not
 * mind. */
static void choose(struct live_owners *o, struct waiting *w)
{
	uint64_t id = w->event->link_id;

	if (o->link_count == ASK_MAX)
		return;
	if (!o->link_count || o->links[o->link_count - 1] != id)
		o->links[o->link_count++] = id;
	w->round = o->round;
}

/* Those that the archive lacks keep no others from being asked for. */
static void choose_links(struct live_owners *o)
{
	o->link_count = 0;
	o->round++;
	for (size_t i = 0; i < o->count; i++)
		if (!o->waiting[i].round)
			choose(o, &o->waiting[i]);
	for (size_t i = 0; i < o->count; i++)
		if (o->waiting[i].round < o->round)
			choose(o, &o->waiting[i]);
}

/* Asks for what waits; by the reader, now and then. */
static void live_owners_ask(struct live_owners *o)
{
	pthread_mutex_lock(&o->lock);
	if (o->count && !o->asking && clock_monotonic_ms() >= o->ask_at) {
		choose_links(o);
		/* A queue that is full: the next call tries again. */
		o->asking = workers_push(o->options.workers, &o->work);
	}
	pthread_mutex_unlock(&o->lock);
}

static struct live_owners *
live_owners_new(const struct live_owners_options *options, struct error *err)
{
	struct live_owners *o = calloc(1, sizeof(*o));

	if (!o) {
		error_set_nomem(err);
		return NULL;
	}
	o->work = (struct work){.run = ask_archive, .whose = TURN_OF_OWNERS};
	o->options = *options;
	pthread_mutex_init(&o->lock, NULL);
	return o;
}

/* Once its workers have ended. */
static void live_owners_free(struct live_owners *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->count; i++)
		live_event_release(o->waiting[i].event);
	for (size_t i = 0; i < KNOWN_MAX; i++)
		link_owner_release(&o->known[i].owner);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

/* --- the reader ----------------------------------------------------------- */

struct live_reader {
	struct live_reader_options options;
	struct kafka_tail *tail;
	struct live_owners *owners;
	struct metric *rejected, *lag;
	int64_t logged_at;
	pthread_t thread;
	bool running;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;
	size_t all;		    /* listen who see all */
	struct live_listener *some; /* the others */
	bool ready; /* the tail is open; changed by the thread alone */
	bool stopping;
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

/* Is there anybody who does not see all links, and may see that owner's?  By
 * what the click says: whose the link is now is looked for then only, so that
 * others' clicks, of which there may be thousands a second, cost nothing. */
static bool somebody_may_see(struct live_reader *r, const char *owner)
{
	const struct live_listener *at;

	pthread_mutex_lock(&r->lock);
	for (at = r->some; at; at = at->next)
		if (!at->owners || key_names_have(at->owners, owner))
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
	if (e->link_id && somebody_may_see(r, e->owner))
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

/* Under the lock. */
static bool is_idle(const struct live_reader *r)
{
	return !r->stopping && !r->all && !r->some;
}

/* Under the lock, which is let go meanwhile: closing speaks to librdkafka. */
static void close_tail(struct live_reader *r)
{
	r->ready = false;
	pthread_mutex_unlock(&r->lock);
	kafka_tail_close(r->tail);
	metric_set(r->lag, 0);
	pthread_mutex_lock(&r->lock);
}

/* Waits for somebody to listen.  False: it is time to end. */
static bool await_listeners(struct live_reader *r)
{
	bool stopping;

	pthread_mutex_lock(&r->lock);
	while (is_idle(r)) {
		if (r->ready)
			close_tail(r);
		else
			pthread_cond_wait(&r->wake, &r->lock);
	}
	stopping = r->stopping;
	pthread_mutex_unlock(&r->lock);
	return !stopping;
}

static void pause_reading(struct live_reader *r)
{
	int64_t until = clock_monotonic_ms() + RETRY_MS;

	pthread_mutex_lock(&r->lock);
	while (!r->stopping && wake_wait(&r->wake, &r->lock, until))
		;
	pthread_mutex_unlock(&r->lock);
}

static void open_tail(struct live_reader *r)
{
	struct error err = {0};

	if (kafka_tail_open(r->tail, &err) < 0) {
		log_trouble(r, "live topic cannot be read, retrying", &err);
		pause_reading(r);
		return;
	}
	pthread_mutex_lock(&r->lock);
	r->ready = true;
	pthread_mutex_unlock(&r->lock);
	r->options.on_ready(r->options.arg);
}

static void *run(void *arg)
{
	struct live_reader *r = arg;

	while (await_listeners(r)) {
		if (r->ready)
			read_some(r);
		else
			open_tail(r);
	}
	return NULL;
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
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
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

/* --- life ----------------------------------------------------------------- */

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
	wake_init(&r->wake);
	register_metrics(r, options->metrics);
	r->owners = live_owners_new(&owners, err);
	if (r->owners)
		r->tail = kafka_tail_new(
			&options->config->kafka, "shortloop-aggregator-live",
			options->config->kafka.topic_live, err);
	if (r->tail)
		return r;
	live_reader_free(r);
	return NULL;
}

int live_reader_start(struct live_reader *r, struct error *err)
{
	errno = pthread_create(&r->thread, NULL, run, r);
	if (errno)
		return error_set_errno(err, "cannot start a thread");
	r->running = true;
	return 0;
}

void live_reader_stop(struct live_reader *r)
{
	if (!r->running)
		return;
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	r->running = false;
}

void live_reader_free(struct live_reader *r)
{
	if (!r)
		return;
	live_reader_stop(r);
	kafka_tail_free(r->tail);
	live_owners_free(r->owners);
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
