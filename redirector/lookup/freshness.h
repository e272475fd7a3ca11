/*
 * freshness.h - which links were changed, and which cache entries are known to
 * be current: the state of the channel of changes that the threads share.
 *
 * An entry was current when its look-up began.  If that was after the
 * subscription began, and no change was noted since, the entry was still
 * current at the last heartbeat: every change before the heartbeat has been
 * noted here.  An entry that is known to have been current less than
 * FRESHNESS_BOUND_MS ago is fresh.
 *
 * Changes are numbered, and the last FRESHNESS_RING of them are kept.  Each
 * reader, one per thread, is called with the changes that it has not seen, when
 * it next synchronizes, or on its loop when it is behind; a reader that is too
 * far behind considers all entries void.
 *
 * Times are monotonic ms, which stand still while the machine sleeps.  So after
 * a sleep all entries are void: their ends, and the times when they were
 * current, would be late by the length of the sleep.
 */
#ifndef REDIRECTOR_LOOKUP_FRESHNESS_H
#define REDIRECTOR_LOOKUP_FRESHNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "common/loop/loop.h"

#define FRESHNESS_BOUND_MS 900
#define FRESHNESS_RING	   4096
#define FRESHNESS_SLEEP_MS 1000
/* Size of a redis_run_id, including its NUL. */
#define FRESHNESS_RUN_ID_SIZE 64

struct freshness;

struct freshness *freshness_new(struct error *err);
/* Called after its readers are freed.  NULL accepted. */
void freshness_free(struct freshness *f);

/* --- the subscription's side, on one thread --- */

/* The subscription has begun, at the Redis with this redis_run_id ("":
 * unknown); it does not cover entries of look-ups that began before. */
void freshness_resume(struct freshness *f, const char *run_id);
/* All changes up to `as_of`, since the subscription began, have been noted. */
void freshness_confirm(struct freshness *f, int64_t as_of);
/* The subscription has ended. */
void freshness_suspend(struct freshness *f);
/* This link has changed.  `len` is 1 to 64. */
void freshness_note(struct freshness *f, const char *code, size_t len);
/* Any link may have changed. */
void freshness_void(struct freshness *f);

/* Callable from any thread, with the results of clock_boottime_ms and then, in
 * this order, of clock_monotonic_ms.  When the first has gained
 * FRESHNESS_SLEEP_MS on the second, the machine slept in between, and all
 * entries become void. */
void freshness_compare_clocks(struct freshness *f, int64_t boottime,
			      int64_t monotonic);

/* --- a thread's side --- */

struct freshness_reader;

/* Called with each code that has changed; must not call back. */
typedef void freshness_fn(void *arg, struct http_slice code);

/* Called before the subscription or the loop runs; the reader is freed after
 * both have ended. */
struct freshness_reader *freshness_reader_new(struct freshness *f,
					      struct loop *loop,
					      freshness_fn *fn, void *arg,
					      struct error *err);
void freshness_reader_free(struct freshness_reader *r); /* NULL accepted */

/* Takes in new changes.  Without changes it costs nothing but reading the
 * clocks once in a turn of the loop.  Called before a search in the cache, and
 * when Redis has answered. */
void freshness_sync(struct freshness_reader *r);

/* Redis may be another one from now on: entries of look-ups that began before
 * are not covered by the subscription. */
void freshness_distrust(struct freshness_reader *r, int64_t now);

/* Links are looked up in the Redis with this redis_run_id ("": unknown). */
void freshness_look_up_in(struct freshness_reader *r, const char *run_id);

/* The time when a query to Redis began, and the number of the last change
 * then. */
struct freshness_mark {
	int64_t at;
	uint64_t change;
};

struct freshness_mark freshness_mark(const struct freshness_reader *r,
				     int64_t now);

/* Returns the time when the subscription last began, or when any link may have
 * changed: changes before that were not named, link by link. */
int64_t freshness_unnamed_until(const struct freshness_reader *r);

/* Returns the mark of a query to a copy.  The copy has all writes until
 * `as_of`, and the query is for a link that was not named since.  If
 * freshness_unnamed_until is before `as_of`, every change up to the last
 * heartbeat was named, so the answer is current as of the heartbeat. */
struct freshness_mark freshness_mark_of_copy(const struct freshness_reader *r,
					     int64_t as_of);

/* The functions below use the state at the last freshness_sync. */

/* True if the entry may not even stand in while Redis is away. */
bool freshness_is_void(const struct freshness_reader *r,
		       const struct freshness_mark *asked);
/* True if the entry is known to have been current within FRESHNESS_BOUND_MS. */
bool freshness_is_fresh(const struct freshness_reader *r,
			const struct freshness_mark *asked, int64_t now);
/* Returns the time since which changes come from another Redis than the one in
 * which links are looked up.  INT64_MAX: they do not; INT64_MIN: they do, and
 * it reported that any link may have changed.  A change that was named since
 * then may be missing where the link is looked up: in a former master, for
 * example.  By the clock of the reader's loop. */
int64_t freshness_elsewhere_since(const struct freshness_reader *r);
/* True if the link has changed since, or may have. */
bool freshness_changed_since(const struct freshness_reader *r,
			     struct http_slice code,
			     const struct freshness_mark *asked);

#endif
