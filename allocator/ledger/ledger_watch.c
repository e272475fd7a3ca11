#include "allocator/ledger/ledger_watch.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/periodic.h"

enum {
	REST_TIMES = 20, /* rest: this many times the reading's duration */
	RETRY_MS = 1000,
	GAUGES = 20 /* per space */
};

/* A thousand years in seconds, which stand for "never". */
#define NEVER_SECONDS INT64_C(31556952000)

/* The metrics shortloop_space_*{space}.  They are registered after the first
 * reading of the space: a 0 before it would look like a space without a
 * block. */
struct ledger_gauges {
	bool registered;
	struct metric *gauges[GAUGES]; /* NULL: does not apply to this space */
};

struct ledger_watch {
	struct redis *redis;
	int64_t every_ms;
	struct log *log;
	size_t count;
	struct metrics *metrics;
	struct ledger_gauges *gauges; /* one per space */
	struct ledger_entry *working; /* used by the thread only */
	struct periodic *thread;

	pthread_mutex_t lock; /* guards the members below */
	struct error failure; /* last reading's error; ERROR_NONE: none */
	struct ledger_entry *latest;
};

/* --- metrics -------------------------------------------------------------- */

static int64_t seconds_of(double days)
{
	double seconds = days * 86400;

	return seconds < (double)NEVER_SECONDS ? llround(seconds)
					       : NEVER_SECONDS;
}

static int64_t issued_per_day(const struct ledger_entry *e)
{
	return llround(e->outlook.issued_per_day);
}

static int64_t reclaimed_per_day(const struct ledger_entry *e)
{
	return llround(e->outlook.reclaimed_per_day);
}

static int64_t created_per_day(const struct ledger_entry *e)
{
	return llround(e->outlook.created_per_day);
}

static int64_t seconds_left(const struct ledger_entry *e)
{
	return seconds_of(e->outlook.days_left);
}

static int64_t seconds_left_reclaim(const struct ledger_entry *e)
{
	return seconds_of(e->outlook.days_left_reclaim);
}

static int64_t read_at(const struct ledger_entry *e)
{
	return e->ledger.now / CLOCK_SECOND;
}

static int64_t highest_generation(const struct ledger_entry *e)
{
	return e->ledger.highest_generation;
}

#define AT(field) offsetof(struct space_ledger, field)
/* A gauge is a number of the ledger (at `offset`), or the result of `value`. */
static const struct {
	const char *name;
	bool always; /* shown for a space without blocks, too */
	size_t offset;
	int64_t (*value)(const struct ledger_entry *e);
	const char *help;
} gauges[GAUGES] = {
	{"capacity_blocks", false, AT(capacity), NULL,
	 "Blocks that the space has"},
	{"cursor_blocks", false, AT(cursor), NULL, "First block never issued"},
	{"live_blocks", false, AT(live), NULL,
	 "Blocks issued whose end is still to come"},
	{"gap_blocks", false, AT(gap), NULL,
	 "Blocks issued that nobody is known to hold, as Redis forgot"},
	{"due_blocks", false, AT(due), NULL,
	 "Blocks issued that are to be looked at now"},
	{"lost_blocks", false, AT(lost), NULL,
	 "Blocks issued that have no marker"},
	{"pooled_blocks", false, AT(pooled), NULL,
	 "Reclaimed blocks that may be granted now"},
	{"quarantined_blocks", false, AT(quarantined), NULL,
	 "Reclaimed blocks that have to wait"},
	{"out_blocks", false, AT(out), NULL,
	 "Blocks taken out of circulation by a manual hold"},
	{"retired_blocks", false, AT(retired), NULL,
	 "Blocks that are out of generations"},
	{"skipped_blocks", false, AT(skipped), NULL,
	 "Blocks skipped because Redis forgot"},
	{"highest_generation", false, 0, highest_generation,
	 "Highest generation in use, of 32767"},
	{"issued_blocks_per_day", false, 0, issued_per_day,
	 "Blocks issued a day, over the last week"},
	{"reclaimed_blocks_per_day", false, 0, reclaimed_per_day,
	 "Blocks reclaimed a day, over the last week"},
	{"exhaustion_seconds", false, 0, seconds_left,
	 "Until no block is free, were none reclaimed; 1000 years: never"},
	{"exhaustion_with_reclaim_seconds", false, 0, seconds_left_reclaim,
	 "Until no block is free, reclaiming as now; 1000 years: never"},
	{"links_created_today", true, AT(days[0].links_created), NULL,
	 "Links created this UTC day, as allocators counted them"},
	{"links_created_per_day", true, 0, created_per_day,
	 "Links created a day, over the last week; extrapolated if the space "
	 "is younger than a day"},
	{"redis_forgot", true, AT(forgot), NULL,
	 "Times that Redis came back as another, which may have forgotten"},
	{"read_timestamp_seconds", true, 0, read_at,
	 "When the ledger was read"},
};
#undef AT

static int64_t value_of(int gauge, const struct ledger_entry *e)
{
	const char *ledger = (const char *)&e->ledger;
	uint64_t number;

	if (gauges[gauge].value)
		return gauges[gauge].value(e);
	memcpy(&number, ledger + gauges[gauge].offset, sizeof(number));
	return (int64_t)number;
}

static void register_gauges(struct ledger_gauges *lg, struct metrics *m,
			    const struct link_space *space)
{
	char name[80], label[80];

	snprintf(label, sizeof(label), "space=\"%.60s\"", space->name);
	for (int i = 0; i < GAUGES; i++) {
		if (!link_space_has_blocks(space) && !gauges[i].always)
			continue;
		snprintf(name, sizeof(name), "shortloop_space_%s",
			 gauges[i].name);
		lg->gauges[i] = metrics_gauge(m, name, label, gauges[i].help);
	}
	lg->registered = true;
}

static void set_gauges(struct ledger_gauges *lg, struct metrics *m,
		       const struct ledger_entry *entry)
{
	if (entry->state != LEDGER_READ)
		return;
	if (!lg->registered)
		register_gauges(lg, m, entry->space);
	for (int i = 0; i < GAUGES; i++)
		metric_set(lg->gauges[i], value_of(i, entry));
}

/* --- thread --------------------------------------------------------------- */

static int read_all(struct ledger_watch *w, struct error *err)
{
	for (size_t i = 0; i < w->count; i++) {
		if (ledger_entry_read(w->redis, &w->working[i], err) < 0)
			return -1;
		set_gauges(&w->gauges[i], w->metrics, &w->working[i]);
	}
	return 0;
}

static void publish_reading(struct ledger_watch *w, const struct error *err)
{
	bool changed;

	pthread_mutex_lock(&w->lock);
	changed = (w->failure.code == ERROR_NONE) != (err->code == ERROR_NONE);
	w->failure = *err;
	memcpy(w->latest, w->working, w->count * sizeof(w->latest[0]));
	pthread_mutex_unlock(&w->lock);
	if (changed && err->code != ERROR_NONE)
		log_warn(w->log, "ledger not readable, retrying", log_err(err));
}

static int64_t refresh_ledger_entries(struct periodic *self, void *arg)
{
	struct ledger_watch *w = arg;
	struct error err = {0};
	int64_t began = clock_monotonic_ms(), ms = w->every_ms, rest;

	(void)self;
	if (read_all(w, &err) < 0 && ms > RETRY_MS)
		ms = RETRY_MS;
	publish_reading(w, &err);
	rest = REST_TIMES * (clock_monotonic_ms() - began);
	return err.code == ERROR_NONE && rest > ms ? rest : ms;
}

/* --- start and stop ------------------------------------------------------- */

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
	w->redis = redis_new(redis, linkstore_scripts(store), err);
	if (w->redis && make_room(w, store, err) == 0)
		return w;
	ledger_watch_free(w);
	return NULL;
}

int ledger_watch_start(struct ledger_watch *w, struct error *err)
{
	w->thread = periodic_new(refresh_ledger_entries, w, err);
	return w->thread ? periodic_start(w->thread, err) : -1;
}

void ledger_watch_free(struct ledger_watch *w)
{
	if (!w)
		return;
	periodic_free(w->thread);
	redis_free(w->redis);
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
