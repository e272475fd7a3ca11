#include "collector/ingest/reloader.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "collector/ingest/file_watch.h"
#include "common/app/reloadable.h"
#include "common/clock.h"
#include "common/periodic.h"

enum {
	LOOK_EVERY = 2000 /* ms between checks of the geo files */
};

#define WHAT "reference files"

struct reloader {
	const struct collector_settings *settings;
	const struct collector_metrics *metrics;
	struct log *log;
	struct periodic *thread;
	struct file_watch *watch; /* for the geo files; the thread's */
	int64_t look_at;	  /* monotonic; the thread's */
	atomic_bool asked;	  /* a reload of all files was requested */
	_Atomic(struct enrich_lookups *) old;	/* to be freed */
	_Atomic(struct enrich_lookups *) fresh; /* read, but not fetched yet */
};

/* Rules that were read but not fetched yet are kept when newer places
 * arrive. */
static void offer_lookups(struct reloader *r, struct enrich_lookups *l)
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

/* Reads all files if `all` is set, otherwise only the places. */
static void read_files(struct reloader *r, bool all)
{
	const struct reload_report to = {r->log, r->metrics->reload_failures};
	struct error err = {0};
	int64_t start = clock_monotonic_ms();
	struct enrich_lookups *l;

	file_watch_seen(r->watch);
	l = (all ? enrich_lookups_new : enrich_lookups_new_places)(r->settings,
								   &err);
	if (!l) {
		reload_report_rejected(&to, WHAT, NULL, &err);
		return;
	}
	reload_report_done(
		&to, WHAT,
		(struct log_field[RELOAD_FIELDS]){
			log_str("which", all ? "all" : "geo_files"),
			log_int("ms", clock_monotonic_ms() - start)});
	offer_lookups(r, l);
}

/* Checks are LOOK_EVERY apart: a file that is still being written is recognised
 * because it differs at the next check. */
static bool places_changed(struct reloader *r)
{
	int64_t now = clock_monotonic_ms();

	if (now < r->look_at)
		return false;
	r->look_at = now + LOOK_EVERY;
	return file_watch_changed(r->watch);
}

static int64_t reload_due_files(struct periodic *self, void *arg)
{
	struct reloader *r = arg;

	(void)self;
	enrich_lookups_free(atomic_exchange(&r->old, NULL));
	if (atomic_exchange(&r->asked, false))
		read_files(r, true);
	else if (places_changed(r))
		read_files(r, false);
	return LOOK_EVERY;
}

struct reloader *reloader_new(const struct collector_settings *settings,
			      const struct collector_metrics *metrics,
			      struct log *log, struct error *err)
{
	struct reloader *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->settings = settings;
	r->metrics = metrics;
	r->log = log;
	r->look_at = clock_monotonic_ms() + LOOK_EVERY;
	r->watch = file_watch_new(&settings->geo_files, err);
	if (r->watch)
		r->thread = periodic_new(reload_due_files, r, err);
	if (r->thread && periodic_start(r->thread, err) == 0)
		return r;
	reloader_free(r);
	return NULL;
}

void reloader_free(struct reloader *r)
{
	if (!r)
		return;
	periodic_free(r->thread);
	enrich_lookups_free(atomic_load(&r->old));
	enrich_lookups_free(atomic_load(&r->fresh));
	file_watch_free(r->watch);
	free(r);
}

void reloader_ask(struct reloader *r)
{
	atomic_store(&r->asked, true);
	periodic_wake(r->thread);
}

struct enrich_lookups *reloader_fetch(struct reloader *r)
{
	if (!atomic_load_explicit(&r->fresh, memory_order_relaxed))
		return NULL;
	return atomic_exchange(&r->fresh, NULL);
}

/* The thread may be busy reading, so that an older one still waits to be
 * freed. */
void reloader_give_back(struct reloader *r, struct enrich_lookups *old)
{
	enrich_lookups_free(atomic_exchange(&r->old, old));
	periodic_wake(r->thread);
}
