/*
 * live_owners_world.h - clicks that wait until the archive returns the owners
 * of their links.  The test stands in for the archive and for the clock.
 */
#ifndef TESTS_UNIT_AGGREGATOR_LIVE_OWNERS_WORLD_H
#define TESTS_UNIT_AGGREGATOR_LIVE_OWNERS_WORLD_H

#include "tests/unit/aggregator/live_click.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "aggregator/api/links/archive.h"
#include "aggregator/api/live/live_owners.h"

enum {
	ASKED_MAX = 1000,   /* links in one query */
	WAITING_MAX = 4096, /* clicks */
	PAUSE_MS = 200,	    /* between two queries */
	WAIT_MS = 1500, /* how long a click waits for a link that no archive has
			 */
	KNOWN_MS = 10000, /* how long a known owner is valid */
};

/* --- the clock, in place of the libc's ------------------------------------ */

static _Atomic int64_t now_ms;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	if (id != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, id, ts);
	ts->tv_sec = now_ms / 1000;
	ts->tv_nsec = now_ms % 1000 * 1000000;
	return 0;
}

/* --- the archive, in place of the aggregator's ---------------------------- */

static struct {
	uint64_t asked[ASKED_MAX]; /* in the last query */
	size_t count;
	unsigned questions;
	uint64_t first, last; /* the links that it has */
	unsigned version;     /* version of their owners */
	bool fails;
	/* A query waits between the two. */
	bool is_slow;
	sem_t begun, may_end;
} archive;

static inline void write_owner(uint64_t link_id, char text[32])
{
	snprintf(text, 32, "owner %" PRIu64 ".%u", link_id, archive.version);
}

int archive_find_owners(struct clickhouse *ch, const uint64_t *link_ids,
			size_t count, archive_owner_fn *fn, void *arg,
			struct error *err)
{
	char owner[32];

	(void)ch;
	archive.count = count;
	for (size_t i = 0; i < count && i < ASKED_MAX; i++)
		archive.asked[i] = link_ids[i];
	archive.questions++;
	if (archive.is_slow) {
		sem_post(&archive.begun);
		sem_wait(&archive.may_end);
	}
	if (archive.fails)
		return error_set_retriable(err, ERROR_REMOTE, "no answer");
	for (size_t i = 0; i < count; i++) {
		const struct key_link whose = {.account = "account",
					       .owner = owner};

		write_owner(link_ids[i], owner);
		if (link_ids[i] >= archive.first && link_ids[i] <= archive.last)
			fn(arg, link_ids[i], &whose);
	}
	return 0;
}

/* --- a test's world ------------------------------------------------------- */

/* The worker waits in it. */
struct stop {
	struct work work; /* first */
	sem_t begun, may_end;
};

struct world {
	struct metrics *metrics;
	struct clickhouse *ch;
	struct query_ender *ender;
	struct workers *workers; /* one thread, and room for one that waits */
	struct live_owners *owners;
	struct stop stop;
	size_t found, wrong; /* wrong: with a wrong owner */
	uint64_t last_found; /* the link of the last click */
	uint64_t lost;
};

static inline void on_found(void *arg, struct live_event *e)
{
	struct world *w = arg;
	char owner[32];

	write_owner(e->link_id, owner);
	w->found++;
	w->wrong += strcmp(e->whose.owner, owner) != 0 ||
		    strcmp(e->whose.account, "account") != 0;
	w->last_found = e->link_id;
}

static inline void on_lost(void *arg, uint64_t events)
{
	struct world *w = arg;

	w->lost += events;
}

static inline int set_up_owners(void **state)
{
	static char url[] = "http://127.0.0.1:1", database[] = "default";
	static const struct clickhouse_config config = {
		.url = url,
		.database = database,
		.connect_timeout = 1000,
		.query_timeout = 1000,
		.response_max = 1 << 20,
	};
	struct world *w = calloc(1, sizeof(*w));
	struct live_owners_options options = {
		.timeout = 1000,
		.found = on_found,
		.lost = on_lost,
		.arg = w,
	};
	struct error err = {0};

	memset(&archive, 0, sizeof(archive));
	sem_init(&archive.begun, 0, 0);
	sem_init(&archive.may_end, 0, 0);
	now_ms = 1000000;
	sem_init(&w->stop.begun, 0, 0);
	sem_init(&w->stop.may_end, 0, 0);
	w->metrics = metrics_new();
	w->ch = clickhouse_new(&config, &err);
	w->ender = query_ender_new(&config, NULL, w->metrics, &err);
	w->workers = workers_new(1, 1, &err);
	options.workers = w->workers;
	options.connections = &w->ch;
	options.ender = w->ender;
	w->owners = live_owners_new(&options, &err);
	assert_non_null(w->owners);
	*state = w;
	return 0;
}

static inline int tear_down_owners(void **state)
{
	struct world *w = *state;

	workers_free(w->workers);
	live_owners_free(w->owners);
	query_ender_free(w->ender);
	clickhouse_free(w->ch);
	metrics_free(w->metrics);
	free(w);
	return 0;
}

static inline void archive_has(uint64_t first, uint64_t last)
{
	archive.first = first;
	archive.last = last;
}

static inline void find_owner(struct world *w, uint64_t link_id)
{
	struct live_event *e = live_click_make(link_id, "");

	live_owners_find(w->owners, e);
	live_event_release(e);
}

static inline void find_owners(struct world *w, uint64_t first, uint64_t last)
{
	for (uint64_t id = first; id <= last; id++)
		find_owner(w, id);
}

static inline void assert_told(const struct world *w, size_t found,
			       uint64_t lost)
{
	assert_int_equal(w->found, found);
	assert_int_equal(w->wrong, 0);
	assert_int_equal(w->lost, lost);
}

static inline void run_stop(struct work *work, unsigned index)
{
	struct stop *stop = (struct stop *)work;

	(void)index;
	sem_post(&stop->begun);
	sem_wait(&stop->may_end);
}

/* Returns when the only worker waits, after it has done all earlier work. */
static inline void stop_worker(struct world *w)
{
	w->stop.work = (struct work){.run = run_stop};
	while (!workers_push(w->workers, &w->stop.work))
		usleep(1000);
	sem_wait(&w->stop.begun);
}

static inline void let_worker_go_on(struct world *w)
{
	sem_post(&w->stop.may_end);
}

static inline void await_worker(struct world *w)
{
	stop_worker(w);
	let_worker_go_on(w);
}

/* Returns how many links were queried; 0 if there was no query. */
static inline size_t ask_archive(struct world *w)
{
	archive.count = 0;
	live_owners_ask(w->owners);
	await_worker(w);
	return archive.count;
}

#define OWNERS_TEST(f)                                                         \
	cmocka_unit_test_setup_teardown(f, set_up_owners, tear_down_owners)

#endif
