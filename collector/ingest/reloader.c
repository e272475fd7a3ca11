#include "collector/ingest/reloader.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "collector/ingest/file_watch.h"
#include "common/clock.h"

enum {
	LOOK_EVERY = 2000 /* ms: at the geo files */
};

struct reloader {
	const struct collector_settings *settings;
	const struct collector_metrics *metrics;
	struct log *log;
	struct file_watch *watch; /* of the geo files; the thread's */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	/* Under `lock`. */
	bool asked;  /* for all files */
	bool places; /* geo files were replaced */
	bool stop;
	struct enrich_lookups *old;
	_Atomic(struct enrich_lookups *) fresh; /* read, and not fetched yet */
};

/* Rules that were read, and not fetched yet, are not lost to newer places. */
static void offer(struct reloader *r, struct enrich_lookups *l)
{
	struct enrich_lookups *before = atomic_exchange(&r->fresh, NULL);

	if (before && before->agents && !l->agents) {
		enrich_lookups_exchange(before, l);
		atomic_store(&r->fresh, before);
		before = l;
	} else {
		atomic_store(&r->fresh, l);
	}
	enrich_lookups_free(before);
}

/* `all`: or only the places. */
static void read_files(struct reloader *r, bool all)
{
	struct error err = {0};
	int64_t start = clock_monotonic_ms();
	struct enrich_lookups *l;

	file_watch_seen(r->watch);
	l = (all ? enrich_lookups_new : enrich_lookups_new_places)(r->settings,
								   &err);
	if (!l) {
		metric_add(r->metrics->reload_failures, 1);
		log_error(r->log, "reference files refused, the old ones stay",
			  log_err(&err));
		return;
	}
	log_info(r->log, "reference files read again",
		 log_str("which", all ? "all" : "geo_files"),
		 log_int("ms", clock_monotonic_ms() - start));
	offer(r, l);
}

/* Until woken, or for LOOK_EVERY.  The lock is held. */
static void doze(struct reloader *r)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LOOK_EVERY / 1000;
	if (pthread_cond_timedwait(&r->wake, &r->lock, &until) == ETIMEDOUT &&
	    file_watch_changed(r->watch))
		r->places = true;
}

/* False: time to end. */
static bool wait_for_work(struct reloader *r, bool *ret_asked, bool *ret_places,
			  struct enrich_lookups **ret_old)
{
	bool stop;

	pthread_mutex_lock(&r->lock);
	while (!r->stop && !r->asked && !r->places && !r->old)
		doze(r);
	stop = r->stop;
	*ret_asked = r->asked;
	*ret_places = r->places;
	*ret_old = r->old;
	r->asked = r->places = false;
	r->old = NULL;
	pthread_mutex_unlock(&r->lock);
	return !stop;
}

static void *run(void *arg)
{
	struct reloader *r = arg;
	struct enrich_lookups *old;
	bool asked, places;

	while (wait_for_work(r, &asked, &places, &old)) {
		enrich_lookups_free(old);
		if (asked || places)
			read_files(r, asked);
	}
	enrich_lookups_free(old);
	return NULL;
}

struct reloader *reloader_new(const struct collector_settings *settings,
			      const struct collector_metrics *metrics,
			      struct log *log, struct error *err)
{
	struct reloader *r = calloc(1, sizeof(*r));
	pthread_condattr_t attr;

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->watch = file_watch_new(&settings->geo_files, err);
	if (!r->watch) {
		free(r);
		return NULL;
	}
	r->settings = settings;
	r->metrics = metrics;
	r->log = log;
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->wake, &attr);
	pthread_condattr_destroy(&attr);
	errno = pthread_create(&r->thread, NULL, run, r);
	if (!errno)
		return r;
	error_set_errno(err, "cannot start a thread");
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	file_watch_free(r->watch);
	free(r);
	return NULL;
}

void reloader_free(struct reloader *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	enrich_lookups_free(atomic_load(&r->fresh));
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	file_watch_free(r->watch);
	free(r);
}

void reloader_ask(struct reloader *r)
{
	pthread_mutex_lock(&r->lock);
	r->asked = true;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
}

struct enrich_lookups *reloader_fetch(struct reloader *r)
{
	if (!atomic_load_explicit(&r->fresh, memory_order_relaxed))
		return NULL;
	return atomic_exchange(&r->fresh, NULL);
}

/* The thread can be busy with reading: then there may be one already. */
void reloader_give_back(struct reloader *r, struct enrich_lookups *old)
{
	struct enrich_lookups *older;

	pthread_mutex_lock(&r->lock);
	older = r->old;
	r->old = old;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	enrich_lookups_free(older);
}
