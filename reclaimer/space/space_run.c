#include "reclaimer/space/space_run.h"

#include <inttypes.h>

#include "common/clock.h"
#include "linkstore/space/reclaim.h"
#include "linkstore/space/record.h"
#include "linkstore/space/sight.h"
#include "reclaimer/space/chunk.h"
#include "reclaimer/space/due_feed.h"

/* What one run holds. */
struct pass {
	const struct space_run *run;
	struct tally *tally;
	struct due_feed *feed;
	struct chunk *chunk;
	struct reclaim_gaps *gaps;
	struct reclaim_lock lock;
	bool locked;
	struct sampler sampler;
	int64_t started; /* monotonic ms */
	int64_t sighted; /* the same, of the last check */
	int64_t kept;	 /* the same, when the lock was last renewed */
};

/* How long a check of Redis' sanity holds, and how often a run that waits for
 * another looks whether that has ended. */
#define SIGHT_HOLDS CLOCK_SECOND
#define WAIT_EVERY  200

/* A Redis that has lost data must not be told what to do with the rest. */
static int check_lost(const struct pass *p, uint64_t lost, struct error *err)
{
	const struct space_run *run = p->run;

	if (lost <= (uint64_t)run->settings->max_lost)
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "%" PRIu64 " blocks of space %s have no marker, more "
			 "than reclaimer.max_lost (%" PRId64
			 "): Redis has lost "
			 "data",
			 lost, run->space->name, run->settings->max_lost);
}

/* Before anything is changed: the lost of this chunk count as well. */
static int check_lost_here(struct pass *p, struct error *err)
{
	struct tally seen = {0};

	chunk_count(p->chunk, p->gaps, &seen);
	if (check_lost(p, p->tally->lost + seen.lost, err) == 0)
		return 0;
	p->tally->scanned += seen.lost;
	p->tally->lost += seen.lost;
	return -1;
}

/* Redis may start to evict, or lose the space, in the middle of a run. */
static int check_sight(struct pass *p, struct error *err)
{
	int64_t now = clock_monotonic_ms();

	if (p->sighted && now - p->sighted < SIGHT_HOLDS)
		return 0;
	if (reclaim_check_sight(p->run->redis, p->run->space, err) < 0)
		return -1;
	p->sighted = now;
	return 0;
}

/* Whoever comes after a run that was killed waits for its lock to run out, so
 * that is short, and renewed all the time. */
static int keep_lock(struct pass *p, struct error *err)
{
	int64_t now = clock_monotonic_ms();

	if (!p->locked || now - p->kept < p->lock.ttl / 4)
		return 0;
	if (reclaim_lock_keep(p->run->redis, &p->lock, err) < 0)
		return -1;
	p->kept = now;
	return 0;
}

static int reclaim_chunk(struct pass *p, struct error *err)
{
	const struct space_run *run = p->run;
	const struct settle_merge merge = {
		.now = due_feed_now(p->feed),
		.apart = linkstore_config(run->space->store)->renew_every,
	};
	struct redis *redis = run->redis;

	if (check_sight(p, err) < 0 || check_lost_here(p, err) < 0 ||
	    chunk_close(p->chunk, redis, run->space, due_feed_now(p->feed),
			err) < 0 ||
	    check_lost_here(p, err) < 0 || keep_lock(p, err) < 0 ||
	    chunk_sample(p->chunk, redis, &p->lock, &p->sampler, p->tally,
			 err) < 0)
		return -1;
	return chunk_settle(p->chunk, redis, &p->lock, &merge, p->gaps,
			    p->tally, err);
}

/* A chunk of a hundredth of a second's worth at most, so that nobody waits long
 * behind a slow run, and it ends soon after it was told to. */
static size_t next_chunk(const struct pass *p)
{
	const struct space_run *run = p->run;
	uint64_t blocks = (uint64_t)run->settings->chunk;

	if (run->rate && run->rate / 100 < blocks)
		blocks = run->rate < 100 ? 1 : run->rate / 100;
	if (run->max_blocks && run->max_blocks - p->tally->scanned < blocks)
		blocks = run->max_blocks - p->tally->scanned;
	return (size_t)blocks;
}

/* How long to wait so that the rate is kept, in ms. */
static int pace(const struct pass *p)
{
	int64_t due, most = p->locked ? p->lock.ttl / 8 : CLOCK_SECOND;

	if (!p->run->rate)
		return 0;
	due = p->started + (int64_t)((double)p->tally->scanned * 1000.0 /
				     (double)p->run->rate);
	due -= clock_monotonic_ms();
	if (due < 0)
		return 0;
	return due < most ? (int)due : (int)most;
}

static uint64_t total(const struct pass *p)
{
	uint64_t blocks = p->tally->scanned + due_feed_left(p->feed);
	uint64_t most = p->run->max_blocks;

	return most && most < blocks ? most : blocks;
}

/* Between chunks. */
static int rest(struct pass *p, bool *ret_interrupted, struct error *err)
{
	const struct space_run *run = p->run;

	do {
		*ret_interrupted =
			run->pause(run->arg, p->tally, total(p), pace(p));
		if (keep_lock(p, err) < 0)
			return -1;
	} while (!*ret_interrupted && pace(p) > 0);
	return 0;
}

static int scan(struct pass *p, bool *ret_interrupted, struct error *err)
{
	const struct space_run *run = p->run;
	size_t blocks;

	for (;;) {
		if (rest(p, ret_interrupted, err) < 0)
			return -1;
		if (*ret_interrupted || !next_chunk(p))
			return 0;
		if (chunk_fill(p->chunk, p->feed, next_chunk(p), &blocks, err) <
		    0)
			return -1;
		if (!blocks)
			return 0;
		if (chunk_look(p->chunk, run->redis, run->space,
			       due_feed_now(p->feed), err) < 0)
			return -1;
		if (run->dry_run)
			chunk_count(p->chunk, p->gaps, p->tally);
		else if (reclaim_chunk(p, err) < 0)
			return -1;
	}
}

/* --- the lock ------------------------------------------------------------- */

static int try_lock(struct pass *p, struct error *err)
{
	const struct space_run *run = p->run;

	p->kept = clock_monotonic_ms();
	if (reclaim_lock_take(run->redis, run->space, run->settings->lock_ttl,
			      &p->lock, err) < 0)
		return -1;
	p->locked = true;
	return 0;
}

/* Ms until the run stops waiting for another; at most WAIT_EVERY. */
static int wait_left(const struct space_run *run, int64_t since)
{
	int64_t left = WAIT_EVERY;

	if (run->wait != DURATION_NEVER)
		left = since + run->wait - clock_monotonic_ms();
	return left < WAIT_EVERY ? (int)left : WAIT_EVERY;
}

static int lock_space(struct pass *p, bool *ret_interrupted, struct error *err)
{
	const struct space_run *run = p->run;
	int64_t since = clock_monotonic_ms();
	bool told = false;
	struct error why;

	while (try_lock(p, &why) < 0) {
		if (why.code != ERROR_BUSY || wait_left(run, since) <= 0) {
			*err = why;
			return -1;
		}
		if (!told)
			run->waiting(run->arg, &why);
		told = true;
		*ret_interrupted = run->pause(run->arg, p->tally, 0,
					      wait_left(run, since));
		if (*ret_interrupted)
			return 0;
	}
	p->started = clock_monotonic_ms();
	/* What was seen before the wait is old by now. */
	p->sighted = told ? 0 : p->sighted;
	return 0;
}

/* --- the run -------------------------------------------------------------- */

static int prepare(struct pass *p, bool *ret_interrupted, struct error *err)
{
	const struct space_run *run = p->run;
	size_t room = (size_t)run->settings->chunk;

	p->feed = due_feed_new(run->redis, run->space, run->span, room,
			       run->dry_run, err);
	p->chunk = chunk_new(room, err);
	if (!p->feed || !p->chunk || check_sight(p, err) < 0 ||
	    space_check(run->redis, run->space, SPACE_TO_RECLAIM, err) < 0)
		return -1;
	if (!run->dry_run && lock_space(p, ret_interrupted, err) < 0)
		return -1;
	if (*ret_interrupted)
		return 0;
	if (check_sight(p, err) < 0)
		return -1;
	return reclaim_gaps_read(run->redis, run->space, &p->gaps, err);
}

int space_run(const struct space_run *run, struct tally *tally,
	      bool *ret_interrupted, struct error *err)
{
	struct pass p = {.run = run, .tally = tally};
	struct error unlock = {0};
	int status = -1;

	*ret_interrupted = false;
	p.sampler.every = (uint64_t)run->settings->sample_every;
	p.started = clock_monotonic_ms();
	status = prepare(&p, ret_interrupted, err);
	if (status == 0 && !*ret_interrupted)
		status = scan(&p, ret_interrupted, err);
	/* A dry run tells all it sees before it says what a run would do. */
	if (status == 0 && run->dry_run)
		status = check_lost(&p, tally->lost, err);
	/* A lock that cannot be given up runs out by itself. */
	if (p.locked)
		reclaim_lock_release(run->redis, &p.lock, &unlock);
	chunk_free(p.chunk);
	due_feed_free(p.feed);
	reclaim_gaps_free(p.gaps);
	return status;
}
