#include "reclaimer/space/space_run.h"

#include <inttypes.h>

#include "common/clock.h"
#include "linkstore/space/reclaim.h"
#include "linkstore/space/safety_check.h"
#include "linkstore/space/space_gaps.h"
#include "linkstore/space/space_record.h"
#include "reclaimer/space/chunk.h"
#include "reclaimer/space/due_feed.h"

/* A run over one space. */
struct chunk_run {
	const struct space_run *run;
	struct tally *tally;
	struct due_feed *feed;
	struct chunk *chunk;
	struct space_gaps *gaps;
	struct reclaim_lock lock;
	bool locked;
	struct sampler sampler;
	int64_t started;	/* monotonic ms */
	int64_t safety_checked; /* monotonic ms of the last safety check */
	int64_t lock_kept;	/* monotonic ms of the lock's last renewal */
};

/* Validity of a safety check of Redis (ms); interval at which a run that waits
 * for another checks whether that has ended. */
#define SAFETY_CHECK_HOLDS CLOCK_SECOND
#define WAIT_EVERY	   200

/* If Redis has lost data, nothing may be changed in the rest. */
static int check_lost(const struct chunk_run *r, uint64_t lost,
		      struct error *err)
{
	const struct space_run *run = r->run;

	if (lost <= (uint64_t)run->settings->max_lost)
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "%" PRIu64 " blocks of space %s have no marker, more "
			 "than reclaimer.max_lost (%" PRId64
			 "): Redis has lost "
			 "data",
			 lost, run->space->name, run->settings->max_lost);
}

/* Called before anything is changed: lost blocks of this chunk count as
 * well. */
static int check_lost_in_chunk(struct chunk_run *r, struct error *err)
{
	struct tally found = {0};

	chunk_count(r->chunk, r->gaps, &found);
	if (check_lost(r, r->tally->lost + found.lost, err) == 0)
		return 0;
	r->tally->scanned += found.lost;
	r->tally->lost += found.lost;
	return -1;
}

/* During a run, Redis may start to evict, lose the space, or get another
 * clock. */
static int check_safety(struct chunk_run *r, struct error *err)
{
	int64_t now = clock_monotonic_ms(), redis_ms;

	if (r->safety_checked && now - r->safety_checked < SAFETY_CHECK_HOLDS)
		return 0;
	if (space_safety_check(r->run->redis, r->run->space, &redis_ms, err) <
		    0 ||
	    clock_check_look(r->run->clock, redis_ms, err) < 0)
		return -1;
	r->safety_checked = now;
	return 0;
}

/* If a run is killed, the next run waits until its lock expires, so the TTL is
 * short, and the lock is renewed all the time. */
static int keep_lock(struct chunk_run *r, struct error *err)
{
	int64_t now = clock_monotonic_ms();

	if (!r->locked || now - r->lock_kept < r->lock.ttl / 4)
		return 0;
	if (reclaim_lock_keep(r->run->redis, &r->lock, err) < 0)
		return -1;
	r->lock_kept = now;
	return 0;
}

static int reclaim_chunk(struct chunk_run *r, struct error *err)
{
	const struct space_run *run = r->run;
	const struct settle_merge merge = {
		.now = due_feed_now(r->feed),
		.apart = linkstore_config(run->space->store)->renew_every,
	};
	struct redis *redis = run->redis;

	if (check_safety(r, err) < 0 || check_lost_in_chunk(r, err) < 0 ||
	    chunk_close(r->chunk, redis, run->space, due_feed_now(r->feed),
			err) < 0 ||
	    check_lost_in_chunk(r, err) < 0 || keep_lock(r, err) < 0 ||
	    chunk_sample(r->chunk, redis, &r->lock, &r->sampler, r->tally,
			 err) < 0)
		return -1;
	return chunk_settle(r->chunk, redis, &r->lock, &merge, r->gaps,
			    r->tally, err);
}

/*
 * A chunk takes at most a hundredth of a second at the given rate, so that
 * other clients do not wait long behind a slow run, and it stops soon when
 * asked to.
 */
static size_t next_chunk(const struct chunk_run *r)
{
	const struct space_run *run = r->run;
	uint64_t blocks = (uint64_t)run->settings->chunk;

	if (run->rate && run->rate / 100 < blocks)
		blocks = run->rate < 100 ? 1 : run->rate / 100;
	if (run->max_blocks && run->max_blocks - r->tally->scanned < blocks)
		blocks = run->max_blocks - r->tally->scanned;
	return (size_t)blocks;
}

/* Returns how long to wait to keep the rate, in ms. */
static int rate_delay(const struct chunk_run *r)
{
	int64_t due, most = r->locked ? r->lock.ttl / 8 : CLOCK_SECOND;

	if (!r->run->rate)
		return 0;
	due = r->started + (int64_t)((double)r->tally->scanned * 1000.0 /
				     (double)r->run->rate);
	due -= clock_monotonic_ms();
	if (due < 0)
		return 0;
	return due < most ? (int)due : (int)most;
}

static uint64_t estimate_total_blocks(const struct chunk_run *r)
{
	uint64_t blocks = r->tally->scanned + due_feed_left(r->feed);
	uint64_t most = r->run->max_blocks;

	return most && most < blocks ? most : blocks;
}

/* Called between chunks. */
static int pause_run(struct chunk_run *r, bool *ret_interrupted,
		     struct error *err)
{
	const struct space_run *run = r->run;

	do {
		*ret_interrupted =
			run->pause(run->arg, r->tally, estimate_total_blocks(r),
				   rate_delay(r));
		if (keep_lock(r, err) < 0)
			return -1;
	} while (!*ret_interrupted && rate_delay(r) > 0);
	return 0;
}

static int process_due_blocks(struct chunk_run *r, bool *ret_interrupted,
			      struct error *err)
{
	const struct space_run *run = r->run;
	size_t blocks;

	for (;;) {
		if (pause_run(r, ret_interrupted, err) < 0)
			return -1;
		if (*ret_interrupted || !next_chunk(r))
			return 0;
		if (chunk_fill(r->chunk, r->feed, next_chunk(r), &blocks, err) <
		    0)
			return -1;
		if (!blocks)
			return 0;
		if (chunk_scan(r->chunk, run->redis, run->space, r->gaps,
			       due_feed_now(r->feed), err) < 0)
			return -1;
		if (run->dry_run)
			chunk_count(r->chunk, r->gaps, r->tally);
		else if (reclaim_chunk(r, err) < 0)
			return -1;
	}
}

/* --- the lock ------------------------------------------------------------- */

static int try_lock(struct chunk_run *r, struct error *err)
{
	const struct space_run *run = r->run;

	r->lock_kept = clock_monotonic_ms();
	if (reclaim_lock_take(run->redis, run->space, run->settings->lock_ttl,
			      &r->lock, err) < 0)
		return -1;
	r->locked = true;
	return 0;
}

/* Returns the ms until the run stops waiting for another; at most
 * WAIT_EVERY. */
static int wait_left(const struct space_run *run, int64_t since)
{
	int64_t left = WAIT_EVERY;

	if (run->wait != DURATION_NEVER)
		left = since + run->wait - clock_monotonic_ms();
	return left < WAIT_EVERY ? (int)left : WAIT_EVERY;
}

static int lock_space(struct chunk_run *r, bool *ret_interrupted,
		      struct error *err)
{
	const struct space_run *run = r->run;
	int64_t since = clock_monotonic_ms();
	bool reported = false;
	struct error why;

	while (try_lock(r, &why) < 0) {
		if (why.code != ERROR_BUSY || wait_left(run, since) <= 0) {
			*err = why;
			return -1;
		}
		if (!reported)
			run->waiting(run->arg, &why);
		reported = true;
		*ret_interrupted = run->pause(run->arg, r->tally, 0,
					      wait_left(run, since));
		if (*ret_interrupted)
			return 0;
	}
	r->started = clock_monotonic_ms();
	/* An earlier safety check is too old after a wait. */
	r->safety_checked = reported ? 0 : r->safety_checked;
	return 0;
}

/* --- the run -------------------------------------------------------------- */

static int prepare_space_run(struct chunk_run *r, bool *ret_interrupted,
			     struct error *err)
{
	const struct space_run *run = r->run;
	size_t room = (size_t)run->settings->chunk;

	r->feed = due_feed_new(run->redis, run->space, run->span, room,
			       run->dry_run, err);
	r->chunk = chunk_new(room, err);
	if (!r->feed || !r->chunk || check_safety(r, err) < 0 ||
	    space_check(run->redis, run->space, SPACE_TO_RECLAIM, err) < 0)
		return -1;
	if (!run->dry_run && lock_space(r, ret_interrupted, err) < 0)
		return -1;
	if (*ret_interrupted)
		return 0;
	if (check_safety(r, err) < 0)
		return -1;
	return space_gaps_read(run->redis, run->space, &r->gaps, err);
}

int space_run(const struct space_run *run, struct tally *tally,
	      bool *ret_interrupted, struct error *err)
{
	struct chunk_run r = {.run = run, .tally = tally};
	struct error unlock = {0};
	int status = -1;

	*ret_interrupted = false;
	r.sampler.every = (uint64_t)run->settings->sample_every;
	r.started = clock_monotonic_ms();
	status = prepare_space_run(&r, ret_interrupted, err);
	if (status == 0 && !*ret_interrupted)
		status = process_due_blocks(&r, ret_interrupted, err);
	/* A replica also answers, and has nothing that is due any more. */
	if (status == 0)
		status = redis_confirm_master(run->redis, err);
	/* A dry run reports everything it finds before the error that a run
	 * would return. */
	if (status == 0 && run->dry_run)
		status = check_lost(&r, tally->lost, err);
	/* A lock that cannot be released expires by itself. */
	if (r.locked)
		reclaim_lock_release(run->redis, &r.lock, &unlock);
	chunk_free(r.chunk);
	due_feed_free(r.feed);
	space_gaps_free(r.gaps);
	return status;
}
