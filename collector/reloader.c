#include "collector/reloader.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "collector/file_watch.h"
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
	bool asked;
	bool stop;
	struct enrich_lookups *old;
	_Atomic(struct enrich_lookups *) fresh; /* read, and not fetched yet */
};

static void read_files(struct reloader *r)
{
	struct error err = {0};
	int64_t start = clock_monotonic_ms();
	struct enrich_lookups *l;

	file_watch_seen(r->watch);
	l = enrich_lookups_new(r->settings, &err);
	if (!l) {
		metric_add(r->metrics->reload_failures, 1);
		log_error(r->log, "reference files refused, the old ones stay",
			  log_err(&err));
		return;
	}
	log_info(r->log, "reference files read again",
		 log_int("ms", clock_monotonic_ms() - start));
	enrich_lookups_free(atomic_exchange(&r->fresh, l));
}

/* Until woken, or for LOOK_EVERY.  The lock is held. */
static void doze(struct reloader *r)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LOOK_EVERY / 1000;
	if (pthread_cond_timedwait(&r->wake, &r->lock, &until) == ETIMEDOUT &&
	    file_watch_changed(r->watch))
		r->asked = true;
}

/* False: time to end. */
static bool wait_for_work(struct reloader *r, bool *ret_asked,
			  struct enrich_lookups **ret_old)
{
	bool stop;

	pthread_mutex_lock(&r->lock);
	while (!r->stop && !r->asked && !r->old)
		doze(r);
	stop = r->stop;
	*ret_asked = r->asked;
	*ret_old = r->old;
	r->asked = false;
	r->old = NULL;
	pthread_mutex_unlock(&r->lock);
	return !stop;
}

static void *run(void *arg)
{
	struct reloader *r = arg;
	struct enrich_lookups *old;
	bool asked;

	while (wait_for_work(r, &asked, &old)) {
		enrich_lookups_free(old);
		if (asked)
			read_files(r);
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
