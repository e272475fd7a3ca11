#include "aggregator/api/live/live_owners.h"

#include <pthread.h>
#include <stdlib.h>

#include "aggregator/api/links/archive.h"
#include "common/clock.h"

enum {
	LOG_MS = 10000,
	KNOWN_BITS = 14,
	KNOWN_MAX = 1 << KNOWN_BITS, /* links */
	KNOWN_MS = 10000,
	WAITING_MAX = 4096, /* events */
	WAIT_MS = 1500,	    /* for a link that is not in the archive yet */
	PAUSE_MS = 200,	    /* between two queries */
	ASK_MAX = 1000,	    /* links per query */
};

/* A turn of its own among those of keys (access_turn), which are hashes. */
#define TURN_OF_OWNERS 1

/* Direct-mapped: among links that share an entry, the last one stays. */
struct known_owner {
	uint64_t link_id; /* 0: none */
	int64_t until;	  /* monotonic */
	struct link_owner owner;
};

struct waiting {
	struct live_event *event;
	int64_t until;	/* monotonic */
	uint64_t round; /* the last one that queried it; 0: none */
};

struct live_owners {
	struct work work; /* has to be first: the worker's query */
	struct live_owners_options options;
	pthread_mutex_t lock; /* protects what follows; held in `found` */
	struct known_owner known[KNOWN_MAX];
	struct waiting waiting[WAITING_MAX]; /* in order of arrival */
	size_t count;
	uint64_t round; /* number of the query, from 1 on */
	bool asking;	/* a worker has the query */
	int64_t ask_at; /* monotonic; start of the next query */
	/* Used by the thread that calls live_owners_ask, and by the worker
	 * while it runs the query. */
	uint64_t links[ASK_MAX];
	size_t link_count;
	int64_t logged_at;
};

/* Returns the link's entry, by Fibonacci hashing (Knuth, volume 3, 6.4). */
static struct known_owner *known_of(struct live_owners *o, uint64_t link_id)
{
	uint64_t hash = link_id * UINT64_C(0x9e3779b97f4a7c15);

	return &o->known[hash >> (64 - KNOWN_BITS)];
}

/* Called with the lock held.  Returns false if the archive has to be queried.
 */
static bool hand_out(struct live_owners *o, struct live_event *e, int64_t now)
{
	const struct known_owner *k = known_of(o, e->link_id);

	if (k->link_id != e->link_id || k->until < now)
		return false;
	if (link_owner_copy(&e->whose, k->owner.account, k->owner.owner))
		o->options.found(o->options.arg, e);
	else
		o->options.lost(o->options.arg, 1);
	return true;
}

void live_owners_find(struct live_owners *o, struct live_event *e)
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
	struct known_owner *k = known_of(o, link_id);
	struct link_owner owner;

	if (!link_owner_copy(&owner, whose->account, whose->owner))
		return;
	pthread_mutex_lock(&o->lock);
	link_owner_release(&k->owner);
	*k = (struct known_owner){link_id, clock_monotonic_ms() + KNOWN_MS,
				  owner};
	pthread_mutex_unlock(&o->lock);
}

/* Called with the lock held.  Hands out the events whose owner is known by now,
 * and drops those that were queried and have waited for too long.  Dropped
 * events count as lost if the archive could not be queried. */
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
	log_warn(o->options.log, "live: cannot query the owners of links",
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

/* Called with the lock held.  A busy link may be listed more than once, which
 * the server accepts. */
static void add_link(struct live_owners *o, struct waiting *w)
{
	uint64_t id = w->event->link_id;

	if (o->link_count == ASK_MAX)
		return;
	if (!o->link_count || o->links[o->link_count - 1] != id)
		o->links[o->link_count++] = id;
	w->round = o->round;
}

/* Links that were never queried come first, so that those that the archive
 * lacks do not delay them. */
static void choose_links(struct live_owners *o)
{
	o->link_count = 0;
	o->round++;
	for (size_t i = 0; i < o->count; i++)
		if (!o->waiting[i].round)
			add_link(o, &o->waiting[i]);
	for (size_t i = 0; i < o->count; i++)
		if (o->waiting[i].round < o->round)
			add_link(o, &o->waiting[i]);
}

void live_owners_ask(struct live_owners *o)
{
	pthread_mutex_lock(&o->lock);
	if (o->count && !o->asking && clock_monotonic_ms() >= o->ask_at) {
		choose_links(o);
		/* If the queue is full, the next call tries again. */
		o->asking = workers_push(o->options.workers, &o->work);
	}
	pthread_mutex_unlock(&o->lock);
}

struct live_owners *live_owners_new(const struct live_owners_options *options,
				    struct error *err)
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

void live_owners_free(struct live_owners *o)
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
