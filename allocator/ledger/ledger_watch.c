#include "allocator/ledger/ledger_watch.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/ledger/ledger_metrics.h"
#include "common/clock.h"
#include "common/wake.h"

enum {
	REST_TIMES = 20,
	RETRY_MS = 1000
};

struct ledger_watch {
	struct redis *redis;
	int64_t every_ms;
	struct log *log;
	size_t count;
	struct metrics *metrics;
	struct ledger_metrics *gauges; /* one a space */
	struct ledger_entry *working;  /* of the thread */
	pthread_t thread;
	bool runs;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;
	bool stopping;
	struct error failure; /* of the last reading, or ERROR_NONE */
	struct ledger_entry *latest;
};

/* --- the thread ----------------------------------------------------------- */

static int read_all(struct ledger_watch *w, struct error *err)
{
	for (size_t i = 0; i < w->count; i++) {
		if (ledger_entry_read(w->redis, &w->working[i], err) < 0)
			return -1;
		ledger_metrics_set(&w->gauges[i], w->metrics, &w->working[i]);
	}
	return 0;
}

static void note(struct ledger_watch *w, const struct error *err)
{
	bool changed;

	pthread_mutex_lock(&w->lock);
	changed = (w->failure.code == ERROR_NONE) != (err->code == ERROR_NONE);
	w->failure = *err;
	memcpy(w->latest, w->working, w->count * sizeof(w->latest[0]));
	pthread_mutex_unlock(&w->lock);
	if (changed && err->code != ERROR_NONE)
		log_warn(w->log, "the ledger cannot be read", log_err(err));
}

/* False: it is time to end. */
static bool rest(struct ledger_watch *w, int64_t ms)
{
	int64_t until = clock_monotonic_ms() + ms;
	bool go_on;

	pthread_mutex_lock(&w->lock);
	while (!w->stopping && wake_wait(&w->wake, &w->lock, until))
		;
	go_on = !w->stopping;
	pthread_mutex_unlock(&w->lock);
	return go_on;
}

static void *run(void *arg)
{
	struct ledger_watch *w = arg;
	struct error err;
	int64_t began, ms;

	do {
		err = (struct error){0};
		began = clock_monotonic_ms();
		ms = w->every_ms;
		if (read_all(w, &err) < 0 && ms > RETRY_MS)
			ms = RETRY_MS;
		note(w, &err);
		began = REST_TIMES * (clock_monotonic_ms() - began);
		if (err.code == ERROR_NONE && began > ms)
			ms = began;
	} while (rest(w, ms));
	return NULL;
}

/* --- for others ----------------------------------------------------------- */

static int make_room(struct ledger_watch *w, const struct linkstore *store,
		     struct error *err)
{
	w->count = linkstore_space_count(store);
	w->gauges = calloc(w->count, sizeof(w->gauges[0]));
	w->working = calloc(w->count, sizeof(w->working[0]));
	w->latest = calloc(w->count, sizeof(w->latest[0]));
	if (!w->gauges || !w->working || !w->latest)
		return error_set_nomem(err);
	for (size_t i = 0; i < w->count; i++)
		w->working[i].space = linkstore_space(store, i);
	memcpy(w->latest, w->working, w->count * sizeof(w->latest[0]));
	return 0;
}

struct ledger_watch *ledger_watch_new(const struct linkstore *store,
				      const struct redis_config *redis,
				      int64_t every_ms, struct metrics *metrics,
				      struct log *log, struct error *err)
{
	struct ledger_watch *w = calloc(1, sizeof(*w));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->every_ms = every_ms;
	w->log = log;
	w->metrics = metrics;
	pthread_mutex_init(&w->lock, NULL);
	wake_init(&w->wake);
	w->redis = redis_new(redis, err);
	if (w->redis && make_room(w, store, err) == 0)
		return w;
	ledger_watch_free(w);
	return NULL;
}

int ledger_watch_start(struct ledger_watch *w, struct error *err)
{
	errno = pthread_create(&w->thread, NULL, run, w);
	if (errno != 0)
		return error_set_errno(err, "cannot start a thread");
	w->runs = true;
	return 0;
}

void ledger_watch_free(struct ledger_watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	if (w->runs)
		pthread_join(w->thread, NULL);
	redis_free(w->redis);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w->gauges);
	free(w->working);
	free(w->latest);
	free(w);
}

int ledger_watch_copy(struct ledger_watch *w, struct ledger_entry *ret_entries,
		      struct error *err)
{
	int status = 0;

	pthread_mutex_lock(&w->lock);
	memcpy(ret_entries, w->latest, w->count * sizeof(w->latest[0]));
	for (size_t i = 0; i < w->count && status == 0; i++) {
		if (w->latest[i].state != LEDGER_UNREAD)
			continue;
		error_set_retriable(err, ERROR_REMOTE,
				    "the ledger has not been read yet: %.300s",
				    w->failure.code == ERROR_NONE
					    ? "come again in a moment"
					    : w->failure.text);
		status = error_keep_inside(err, w->failure.outside);
	}
	pthread_mutex_unlock(&w->lock);
	return status;
}
