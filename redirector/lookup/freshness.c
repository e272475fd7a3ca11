#include "redirector/lookup/freshness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codespace/alias.h"
#include "common/clock.h"

/* A reader that has not seen this many changes is woken. */
#define BEHIND (FRESHNESS_RING / 8)
/* A time that covers no entry. */
#define NEVER (INT64_MIN / 2)

struct change {
	uint8_t len; /* 0: it names no link */
	char code[ALIAS_LENGTH_MAX];
};

/*
 * A reader reads `confirmed` first and then `head`: changes are noted before
 * they are confirmed.
 */
struct freshness {
	_Atomic int64_t confirmed;
	_Atomic uint64_t head; /* changes noted; raised under the lock */
	_Atomic int64_t slept; /* total ms of sleep; set under the lock */
	pthread_mutex_t lock;  /* protects the members below */
	uint64_t resumed;      /* change that began the subscription */
	uint64_t voided;       /* entries of look-ups before it are void */
	int64_t unnamed;       /* time of the later of these two */
	char source[FRESHNESS_RUN_ID_SIZE]; /* redis_run_id where it began */
	struct freshness_reader *readers;
	struct change ring[FRESHNESS_RING]; /* place: number % FRESHNESS_RING */
};

struct freshness_reader {
	struct freshness *shared;
	struct freshness_reader *next;
	struct loop *loop;
	freshness_fn *fn;
	void *arg;
	bool woken;	/* under the lock */
	uint64_t turns; /* turn in which the clocks were last read */
	/* Changed by the reader's own thread, under the lock where others read
	 * it. */
	uint64_t seen;
	uint64_t resumed, voided;
	int64_t confirmed;
	int64_t distrusted; /* look-ups that began until then are not covered */
	int64_t unnamed;    /* see freshness_unnamed_until */
	int64_t resumed_at; /* when `resumed` was seen, by the loop's clock */
	char source[FRESHNESS_RUN_ID_SIZE];
	char asked[FRESHNESS_RUN_ID_SIZE]; /* redis_run_id for look-ups */
};

struct freshness *freshness_new(struct error *err)
{
	struct freshness *f = calloc(1, sizeof(*f));
	int64_t boottime = clock_boottime_ms();

	if (!f) {
		error_set_nomem(err);
		return NULL;
	}
	atomic_init(&f->confirmed, NEVER);
	atomic_init(&f->slept, boottime - clock_monotonic_ms());
	f->unnamed = clock_monotonic_ms();
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

void freshness_free(struct freshness *f)
{
	if (!f)
		return;
	pthread_mutex_destroy(&f->lock);
	free(f);
}

/* --- the subscription's side ---------------------------------------------- */

static void on_woken(void *arg)
{
	struct freshness_reader *r = arg;

	pthread_mutex_lock(&r->shared->lock);
	r->woken = false;
	pthread_mutex_unlock(&r->shared->lock);
	freshness_sync(r);
}

/* A post that fails is repeated with the next change. */
static void wake_those_behind(struct freshness *f, uint64_t head)
{
	struct error ignored;

	for (struct freshness_reader *r = f->readers; r; r = r->next) {
		if (!r->woken && head - r->seen >= BEHIND)
			r->woken =
				loop_post(r->loop, on_woken, r, &ignored) == 0;
	}
}

/* Called with the lock held.  Returns the number of the change. */
static uint64_t append_change(struct freshness *f, const char *code, size_t len)
{
	uint64_t number = atomic_load(&f->head) + 1;
	struct change *c = &f->ring[number % FRESHNESS_RING];

	c->len = (uint8_t)len;
	if (len)
		memcpy(c->code, code, len);
	wake_those_behind(f, number);
	return number;
}

void freshness_resume(struct freshness *f, const char *run_id)
{
	pthread_mutex_lock(&f->lock);
	snprintf(f->source, sizeof(f->source), "%s", run_id);
	f->resumed = append_change(f, NULL, 0);
	f->unnamed = clock_monotonic_ms();
	atomic_store(&f->head, f->resumed);
	pthread_mutex_unlock(&f->lock);
}

/* Called with the lock held. */
static void void_all(struct freshness *f)
{
	f->voided = append_change(f, NULL, 0);
	f->unnamed = clock_monotonic_ms();
	atomic_store(&f->head, f->voided);
}

void freshness_void(struct freshness *f)
{
	pthread_mutex_lock(&f->lock);
	void_all(f);
	pthread_mutex_unlock(&f->lock);
}

void freshness_note(struct freshness *f, const char *code, size_t len)
{
	pthread_mutex_lock(&f->lock);
	atomic_store(&f->head, append_change(f, code, len));
	pthread_mutex_unlock(&f->lock);
}

void freshness_confirm(struct freshness *f, int64_t as_of)
{
	atomic_store(&f->confirmed, as_of);
}

void freshness_suspend(struct freshness *f)
{
	atomic_store(&f->confirmed, NEVER);
}

/* --- sleep ---------------------------------------------------------------- */

/* Short sleeps add up.  A thread that is delayed between reading the two clocks
 * measures too little, never too much. */
static bool has_slept(const struct freshness *f, int64_t slept)
{
	return slept - atomic_load(&f->slept) > FRESHNESS_SLEEP_MS;
}

void freshness_compare_clocks(struct freshness *f, int64_t boottime,
			      int64_t monotonic)
{
	int64_t slept = boottime - monotonic;

	if (!has_slept(f, slept))
		return;
	pthread_mutex_lock(&f->lock);
	if (has_slept(f, slept)) { /* no other thread has done it */
		void_all(f);
		/* Stored after `head`: a thread that reads it finds all entries
		 * void. */
		atomic_store(&f->slept, slept);
	}
	pthread_mutex_unlock(&f->lock);
}

/* --- a thread's side ------------------------------------------------------ */

struct freshness_reader *freshness_reader_new(struct freshness *f,
					      struct loop *loop,
					      freshness_fn *fn, void *arg,
					      struct error *err)
{
	struct freshness_reader *r = malloc(sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	*r = (struct freshness_reader){.shared = f,
				       .loop = loop,
				       .fn = fn,
				       .arg = arg,
				       .confirmed = NEVER,
				       .distrusted = NEVER,
				       .unnamed = clock_monotonic_ms()};
	pthread_mutex_lock(&f->lock);
	r->next = f->readers;
	f->readers = r;
	pthread_mutex_unlock(&f->lock);
	return r;
}

void freshness_reader_free(struct freshness_reader *r)
{
	struct freshness_reader **at;

	if (!r)
		return;
	pthread_mutex_lock(&r->shared->lock);
	for (at = &r->shared->readers; *at != r; at = &(*at)->next)
		;
	*at = r->next;
	pthread_mutex_unlock(&r->shared->lock);
	free(r);
}

static void hand_over(struct freshness_reader *r, uint64_t head)
{
	const struct change *c;

	for (uint64_t n = r->seen + 1; n <= head; n++) {
		c = &r->shared->ring[n % FRESHNESS_RING];
		if (c->len)
			r->fn(r->arg, (struct http_slice){c->code, c->len});
	}
}

/* Called with the lock held, before the changes that followed are handed over:
 * by the loop's clock they must not be older than `resumed_at`. */
static void take_source(struct freshness_reader *r)
{
	const struct freshness *f = r->shared;

	if (r->resumed == f->resumed)
		return;
	r->resumed = f->resumed;
	r->resumed_at = loop_now_ms(r->loop);
	memcpy(r->source, f->source, sizeof(r->source));
}

static void catch_up(struct freshness_reader *r)
{
	struct freshness *f = r->shared;
	uint64_t head;

	pthread_mutex_lock(&f->lock);
	head = atomic_load(&f->head);
	take_source(r);
	if (r->voided < f->voided)
		r->voided = f->voided;
	if (r->unnamed < f->unnamed)
		r->unnamed = f->unnamed;
	if (head - r->seen > FRESHNESS_RING) { /* some were overwritten */
		r->voided = head;
		r->unnamed = clock_monotonic_ms();
	} else {
		hand_over(r, head);
	}
	r->seen = head;
	pthread_mutex_unlock(&f->lock);
}

/* Once per turn is enough: a request that is sent after a sleep is read in a
 * turn that begins after it. */
static void look_at_clocks(struct freshness_reader *r)
{
	int64_t boottime;

	if (r->turns == loop_turns(r->loop))
		return;
	r->turns = loop_turns(r->loop);
	boottime = clock_boottime_ms();
	freshness_compare_clocks(r->shared, boottime, clock_monotonic_ms());
}

void freshness_sync(struct freshness_reader *r)
{
	look_at_clocks(r);
	r->confirmed = atomic_load_explicit(&r->shared->confirmed,
					    memory_order_acquire);
	if (atomic_load_explicit(&r->shared->head, memory_order_acquire) !=
	    r->seen)
		catch_up(r);
}

void freshness_distrust(struct freshness_reader *r, int64_t now)
{
	r->distrusted = now;
}

void freshness_look_up_in(struct freshness_reader *r, const char *run_id)
{
	snprintf(r->asked, sizeof(r->asked), "%s", run_id);
}

struct freshness_mark freshness_mark(const struct freshness_reader *r,
				     int64_t now)
{
	return (struct freshness_mark){now, r->seen};
}

int64_t freshness_unnamed_until(const struct freshness_reader *r)
{
	return r->unnamed;
}

struct freshness_mark freshness_mark_of_copy(const struct freshness_reader *r,
					     int64_t as_of)
{
	return (struct freshness_mark){
		as_of > r->confirmed ? as_of : r->confirmed, r->seen};
}

bool freshness_is_void(const struct freshness_reader *r,
		       const struct freshness_mark *asked)
{
	return asked->change < r->voided;
}

bool freshness_is_fresh(const struct freshness_reader *r,
			const struct freshness_mark *asked, int64_t now)
{
	int64_t oldest = now - FRESHNESS_BOUND_MS;

	if (asked->at > oldest)
		return true;
	return r->confirmed > oldest && asked->change >= r->resumed &&
	       asked->at > r->distrusted;
}

int64_t freshness_elsewhere_since(const struct freshness_reader *r)
{
	if (!*r->asked || !*r->source || strcmp(r->asked, r->source) == 0)
		return INT64_MAX;
	return r->voided > r->resumed ? INT64_MIN : r->resumed_at;
}

static bool is_named(const struct freshness *f, struct http_slice code,
		     uint64_t after, uint64_t until)
{
	const struct change *c;

	for (uint64_t n = after + 1; n <= until; n++) {
		c = &f->ring[n % FRESHNESS_RING];
		if (c->len == code.len && !memcmp(c->code, code.data, code.len))
			return true;
	}
	return false;
}

bool freshness_changed_since(const struct freshness_reader *r,
			     struct http_slice code,
			     const struct freshness_mark *asked)
{
	struct freshness *f = r->shared;
	bool changed;

	if (asked->change == r->seen)
		return false;
	if (freshness_is_void(r, asked))
		return true;
	pthread_mutex_lock(&f->lock);
	changed = atomic_load(&f->head) - asked->change > FRESHNESS_RING ||
		  is_named(f, code, asked->change, r->seen);
	pthread_mutex_unlock(&f->lock);
	return changed;
}
