/*
 * freshness.h - which links were changed, and which entries of the caches are
 * known to be current: what the threads share of the channel of changes.
 *
 * An entry was current when it was asked for.  If that was since the
 * subscription began, it still was at the last heartbeat: whatever changed
 * before that has been noted here.  What is known to have been current less
 * than FRESHNESS_BOUND_MS ago is fresh.
 *
 * Changes are numbered, and the last FRESHNESS_RING of them are kept.  Each
 * reader, one a thread, is called with those it has not seen, when it next
 * looks, or on its loop when it is behind; one that is too far behind takes all
 * entries for void.
 *
 * Times are monotonic ms, which stand still while the machine sleeps.  So after
 * a sleep all entries are void: their ends, and when they were current, would
 * be late by the length of the sleep.
 */
#ifndef REDIRECTOR_FRESHNESS_H
#define REDIRECTOR_FRESHNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "common/loop/loop.h"

#define FRESHNESS_BOUND_MS 900
#define FRESHNESS_RING	   4096
#define FRESHNESS_SLEEP_MS 1000
/* Of a redis_run_id, with its NUL. */
#define FRESHNESS_RUN_ID_SIZE 64

struct freshness;

struct freshness *freshness_new(struct error *err);
/* After its readers.  NULL accepted. */
void freshness_free(struct freshness *f);

/* --- the subscription's side, on one thread --- */

/* The subscription has begun, at the Redis of this redis_run_id ("": which is
 * not known): entries asked for before are not covered. */
void freshness_resume(struct freshness *f, const char *run_id);
/* All that had changed at `as_of` since then is noted. */
void freshness_confirm(struct freshness *f, int64_t as_of);
/* The subscription has ended. */
void freshness_suspend(struct freshness *f);
/* This link has changed.  Of 1 to 64 characters. */
void freshness_note(struct freshness *f, const char *code, size_t len);
/* Any link may have changed. */
void freshness_void(struct freshness *f);

/* From any thread: what clock_boottime_ms and then, in this order,
 * clock_monotonic_ms say.  When the first has gained FRESHNESS_SLEEP_MS on the
 * second, the machine slept in between, and all entries are void. */
void freshness_compare_clocks(struct freshness *f, int64_t boottime,
			      int64_t monotonic);

/* --- a thread's side --- */

struct freshness_reader;

/* Called with each code that has changed; must not call back. */
typedef void freshness_fn(void *arg, struct http_slice code);

/* Before the subscription or the loop runs; freed after both have ended. */
struct freshness_reader *freshness_reader_new(struct freshness *f,
					      struct loop *loop,
					      freshness_fn *fn, void *arg,
					      struct error *err);
void freshness_reader_free(struct freshness_reader *r); /* NULL accepted */

/* Learns what has changed; costs nothing when nothing has, but for a look at
 * the clocks once in a turn of the loop.  To be called before the cache is
 * looked into, and when Redis has answered. */
void freshness_sync(struct freshness_reader *r);

/* Redis may be another one from now on: entries asked for before are not
 * covered. */
void freshness_distrust(struct freshness_reader *r, int64_t now);

/* It is the one of this redis_run_id ("": which is not known). */
void freshness_look_up_in(struct freshness_reader *r, const char *run_id);

/* When Redis was asked for something: by the clock, and after which change. */
struct freshness_mark {
	int64_t at;
	uint64_t change;
};

struct freshness_mark freshness_mark(const struct freshness_reader *r,
				     int64_t now);

/* When the subscription last began, or any link may have changed: what changed
 * before was not named, link by link. */
int64_t freshness_unnamed_until(const struct freshness_reader *r);

/* The same of a question to a copy, which has all that was written until
 * `as_of` and is asked for a link that was not named since.  If
 * freshness_unnamed_until was before, whatever has changed it until the last
 * heartbeat was named, so it is current as of that. */
struct freshness_mark freshness_mark_of_copy(const struct freshness_reader *r,
					     int64_t as_of);

/* What follows speaks of what was learned by the last sync. */

/* May it not even stand in while Redis is away? */
bool freshness_is_void(const struct freshness_reader *r,
		       const struct freshness_mark *asked);
/* Is it known to have been current within FRESHNESS_BOUND_MS? */
bool freshness_is_fresh(const struct freshness_reader *r,
			const struct freshness_mark *asked, int64_t now);
/* Since when changes are heard of from another Redis than the one that links
 * are looked up in; INT64_MAX: they are not; INT64_MIN: they are, and it told
 * that any link may have changed.  What was named since then may not have
 * changed where it is looked up: in a former master, say.  By the clock of the
 * reader's loop. */
int64_t freshness_elsewhere_since(const struct freshness_reader *r);
/* Has that link changed since, or may it have? */
bool freshness_changed_since(const struct freshness_reader *r,
			     struct http_slice code,
			     const struct freshness_mark *asked);

#endif
