#include "aggregator/api/freshness.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "aggregator/settle/table_state.h"
#include "aggregator/settle/waiting.h"
#include "aggregator/zone/civil.h"
#include "common/clock.h"
#include "common/periodic.h"

/* Older results are not used, because clocks drift.  The limit is lower if rows
 * of sealed days that were read then might be deleted while a query runs. */
#define AGE_MAX (10 * CLOCK_SECOND)

#define NOT_READ "collectors' reports were not read yet"

struct freshness {
	const struct aggregator_settings *settings;
	int64_t age_max;		 /* ms */
	struct clickhouse *ch;		 /* the thread's */
	struct watermark_reader *reader; /* the thread's */
	uint64_t marks;			 /* the thread's; marks of `days` */
	struct table_watch watch;	 /* the thread's; of `waiting` */
	struct periodic *thread;
	struct health_check *health; /* up once the first reading succeeded */
	pthread_mutex_t lock;	     /* protects what follows */
	struct fresh last;
	struct copied_days days[COPIED_KINDS];
	struct stale_list waiting; /* hours that wait */
	bool known;
};

/* The result of a reading of the thread. */
struct reading {
	struct fresh fresh;
	struct stale_list waiting;
	struct copied_days days[COPIED_KINDS];
	bool changed; /* days were read */
};

/* The hours that wait are read before the attempts, by the marks of the last
 * reading. */
static int search_waiting(struct freshness *f, struct stale_list *ret,
			  struct error *err)
{
	const struct fresh *last = &f->last;
	struct progress published;
	struct server_clock clock;

	if (f->known)
		return waiting_list_hours(f->ch, f->settings, &last->published,
					  fresh_now(last), ret, err);
	if (settling_read_clock(f->ch, &clock, err) < 0 ||
	    progress_read_last(f->ch, &published, err) < 0)
		return -1;
	return waiting_list_hours(f->ch, f->settings, &published,
				  clock.server_ms, ret, err);
}

/* Nothing waits while the tables are as they were when nothing waited: time
 * alone makes no hour wait. */
static int read_waiting_first(struct freshness *f, struct stale_list *ret,
			      struct error *err)
{
	bool quiet = table_watch_is_quiet(&f->watch, f->ch);

	if (!quiet && search_waiting(f, ret, err) < 0)
		return -1;
	table_watch_found(&f->watch, ret->count > 0, !quiet,
			  f->settings->recheck_every);
	return 0;
}

static int read_freshness(struct freshness *f, struct fresh *ret,
			  uint64_t *ret_marks, struct error *err)
{
	const struct partition_mark *marks;

	*ret = (struct fresh){0};
	if (progress_read_marks(f->ch, &ret->published, ret_marks, err) < 0 ||
	    watermark_read(f->reader, f->ch, ret->published.mended,
			   &ret->reported, err) < 0)
		return -1;
	ret->clock = (struct server_clock){ret->reported.server_ms,
					   clock_monotonic_ms()};
	marks = watermark_reader_marks(f->reader, &ret->mark_count);
	if (!ret->mark_count)
		return 0;
	ret->marks = malloc(ret->mark_count * sizeof(*marks));
	if (!ret->marks)
		return error_set_nomem(err);
	memcpy(ret->marks, marks, ret->mark_count * sizeof(*marks));
	return 0;
}

/* Called with the lock held. */
static void swap_days(struct freshness *f, struct copied_days *days)
{
	for (size_t i = 0; i < COPIED_KINDS; i++) {
		struct copied_days old = f->days[i];

		f->days[i] = days[i];
		days[i] = old;
	}
}

/*
 * A promise of the reports stays true when the watermark waits for more than
 * before, such as for a new partition: what Kafka appends there comes later.
 * The exceptions are a mend, and a history of the server that went back:
 * attempts only grow.
 */
static void keep_promise(struct fresh *found, const struct fresh *last)
{
	found->promised = found->reported.complete_until;
	if (found->published.mended == last->published.mended &&
	    found->published.attempt >= last->published.attempt &&
	    found->promised < last->promised)
		found->promised = last->promised;
}

/* Called by the thread alone. */
static void store_freshness(struct freshness *f, struct reading *r)
{
	struct stale_list waiting = r->waiting;
	struct fresh old;

	pthread_mutex_lock(&f->lock);
	old = f->last;
	keep_promise(&r->fresh, &old);
	f->last = r->fresh;
	r->waiting = f->waiting;
	f->waiting = waiting;
	if (r->changed)
		swap_days(f, r->days);
	f->known = true;
	pthread_mutex_unlock(&f->lock);
	fresh_release(&old);
	r->fresh.marks = NULL;
}

/* Returns a digest of the parts of the tables that answers are made of; 0: not
 * known, for example without the right to read system.parts. */
static uint64_t read_state(struct freshness *f)
{
	static const char sql[] =
#include "aggregator/sql/state_of_tables.sql.inc"
		;
	uint64_t n[2] = {0};
	struct error ignored = {0};

	if (clickhouse_numbers(f->ch, sql, NULL, n, 2, &ignored) < 0 || !n[0])
		return 0;
	return n[1] ? n[1] : 1;
}

/* The rows of `settled` have marks of their own, without those of the
 * watermark. */
static uint64_t version_of(uint64_t state, uint64_t marks)
{
	const uint64_t both[] = {state, marks};

	return state ? XXH3_64bits(both, sizeof(both)) | 1 : 0;
}

static int read_all(struct freshness *f, struct reading *ret,
		    uint64_t *ret_marks, struct error *err)
{
	uint64_t state = read_state(f);

	if (read_waiting_first(f, &ret->waiting, err) < 0 ||
	    read_freshness(f, &ret->fresh, ret_marks, err) < 0)
		return -1;
	ret->fresh.version = version_of(state, *ret_marks);
	/* Reading the days is half of the cost of a reading. */
	ret->changed = !f->known || *ret_marks != f->marks;
	return ret->changed ? copied_days_read_all(f->ch, ret->days, err) : 0;
}

static void release_reading(struct reading *r)
{
	fresh_release(&r->fresh);
	stale_list_release(&r->waiting);
	for (size_t i = 0; i < COPIED_KINDS; i++)
		copied_days_release(&r->days[i]);
}

/* A later failure is reported by the settler, which queries the same server,
 * and by answers, which then query it themselves. */
static int64_t update_freshness(struct periodic *self, void *arg)
{
	struct freshness *f = arg;
	struct reading found = {.changed = false};
	struct error err = {0};
	uint64_t marks = 0;

	(void)self;
	if (read_all(f, &found, &marks, &err) == 0) {
		store_freshness(f, &found);
		f->marks = marks;
		health_up(f->health);
	} else if (!f->known) {
		health_down(f->health, err.text);
	}
	release_reading(&found);
	return f->settings->watermark_every;
}

struct freshness *freshness_new(const struct aggregator_config *config,
				struct health *health, struct error *err)
{
	struct freshness *f = calloc(1, sizeof(*f));

	if (!f) {
		error_set_nomem(err);
		return NULL;
	}
	pthread_mutex_init(&f->lock, NULL);
	f->settings = &config->aggregator;
	f->health = health_register(health, "reports");
	health_down(f->health, NOT_READ);
	f->age_max = config->aggregator.keep_superseded -
		     config->clickhouse.query_timeout;
	if (f->age_max > AGE_MAX)
		f->age_max = AGE_MAX;
	f->ch = clickhouse_new(&config->clickhouse, err);
	if (f->ch)
		f->reader = watermark_reader_new(&config->aggregator, err);
	if (f->reader)
		f->thread = periodic_new(update_freshness, f, err);
	if (!f->thread) {
		freshness_free(f);
		return NULL;
	}
	return f;
}

int freshness_start(struct freshness *f, struct error *err)
{
	return periodic_start(f->thread, err);
}

void freshness_free(struct freshness *f)
{
	if (!f)
		return;
	periodic_free(f->thread);
	watermark_reader_free(f->reader);
	clickhouse_free(f->ch);
	fresh_release(&f->last);
	stale_list_release(&f->waiting);
	for (size_t i = 0; i < COPIED_KINDS; i++)
		copied_days_release(&f->days[i]);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

/* Called with the lock held. */
static bool is_usable(const struct freshness *f)
{
	return f->known &&
	       clock_monotonic_ms() - f->last.clock.monotonic_ms < f->age_max;
}

bool freshness_get(struct freshness *f, struct fresh *ret)
{
	bool usable;

	pthread_mutex_lock(&f->lock);
	usable = is_usable(f);
	*ret = f->last;
	pthread_mutex_unlock(&f->lock);
	ret->marks = NULL;
	ret->mark_count = 0;
	return usable;
}

static int copy_days(const struct copied_days *all, int64_t from, int64_t to,
		     struct copied_days *ret, struct error *err)
{
	ret->rows_from = all->rows_from;
	ret->days_from = all->days_from;
	ret->kept_from = all->kept_from;
	for (size_t i = 0; i < all->count; i++) {
		const struct copied_day *day = &all->items[i];

		if (day->start + CIVIL_DAY <= from || day->start >= to)
			continue;
		if (!ret->items)
			ret->items =
				calloc(all->count - i, sizeof(*ret->items));
		if (!ret->items)
			return error_set_nomem(err);
		ret->items[ret->count++] = *day;
	}
	return 0;
}

int freshness_days(struct freshness *f, enum copied which,
		   struct clickhouse *ch, int64_t from, int64_t to,
		   struct copied_days *ret, struct error *err)
{
	struct copied_days asked = {0};
	bool usable;
	int status = 0;

	*ret = (struct copied_days){0};
	pthread_mutex_lock(&f->lock);
	usable = is_usable(f);
	if (usable)
		status = copy_days(&f->days[which], from, to, ret, err);
	pthread_mutex_unlock(&f->lock);
	if (usable)
		return status;
	status = copied_days_read(ch, which, &asked, err);
	if (status == 0)
		status = copy_days(&asked, from, to, ret, err);
	copied_days_release(&asked);
	return status;
}

/* Whether an hour that is over and touches [from, to) waits. */
static bool has_waiting(const struct stale_list *hours, int64_t now_ms,
			int64_t from, int64_t to)
{
	for (size_t i = 0; i < hours->count; i++) {
		int64_t start = hours->items[i].start;
		int64_t end = start + CLOCK_HOUR / CLOCK_SECOND;

		if (start < to && end > from && end * CLOCK_SECOND <= now_ms)
			return true;
	}
	return false;
}

int freshness_waits(struct freshness *f, struct clickhouse *ch, int64_t from,
		    int64_t to, bool *ret, struct error *err)
{
	struct stale_list hours;
	struct server_clock clock;
	struct progress last;
	bool usable;

	pthread_mutex_lock(&f->lock);
	usable = is_usable(f);
	if (usable)
		*ret = has_waiting(&f->waiting, fresh_now(&f->last), from, to);
	pthread_mutex_unlock(&f->lock);
	if (usable)
		return 0;
	if (settling_read_clock(ch, &clock, err) < 0 ||
	    progress_read_last(ch, &last, err) < 0 ||
	    waiting_list_hours(ch, f->settings, &last, clock.server_ms, &hours,
			       err) < 0)
		return -1;
	*ret = has_waiting(&hours, clock.server_ms, from, to);
	stale_list_release(&hours);
	return 0;
}

int freshness_get_marks(struct freshness *f, struct fresh *ret,
			struct error *err)
{
	size_t size;
	int status = 0;

	pthread_mutex_lock(&f->lock);
	*ret = f->last;
	ret->marks = NULL;
	size = ret->mark_count * sizeof(*ret->marks);
	if (!f->known)
		status = error_set_retriable(err, ERROR_REMOTE, NOT_READ);
	else if (size && !(ret->marks = malloc(size)))
		status = error_set_nomem(err);
	else if (size)
		memcpy(ret->marks, f->last.marks, size);
	pthread_mutex_unlock(&f->lock);
	return status;
}

void fresh_release(struct fresh *fresh)
{
	free(fresh->marks);
	fresh->marks = NULL;
}

int64_t fresh_complete_until(const struct fresh *fresh,
			     const struct aggregator_settings *settings)
{
	int64_t published = fresh->published.complete_until;
	int64_t reported =
		fresh->promised ? fresh->promised - settings->clicks.edge_delay
				: 0;

	return reported > published ? reported : published;
}

int64_t fresh_now(const struct fresh *fresh)
{
	return fresh->clock.server_ms + clock_monotonic_ms() -
	       fresh->clock.monotonic_ms;
}
