#include "linkstore/retire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "linkstore/block/block_scan.h"
#include "linkstore/block/link_count.h"
#include "linkstore/command.h"
#include "linkstore/space/members.h"
#include "linkstore/space/raise_cursor.h"
#include "linkstore/space/safety_check.h"
#include "linkstore/target.h"

/* --- search for links of a key -------------------------------------------- */

struct key_search {
	struct redis *redis;
	const struct reclaim_lock *lock; /* the space's lock */
	unsigned version;		 /* configured */
	int64_t now, used; /* Redis' clock; time of its last grant */
};

struct key_findings {
	uint64_t looked;  /* blocks */
	uint64_t live;	  /* blocks with links of the version that will end */
	uint64_t endless; /* blocks with links of the version that never end */
	uint64_t lost;	/* blocks with links of the version, without a marker */
	uint64_t ended; /* blocks that ended, in quarantine now or soon */
	int64_t last;	/* end of the quarantine of live and ended */
};

#define LOOK_AT_ONCE 1024 /* blocks */

struct retire_pass {
	const struct key_search *what;
	const struct link_space *space;
	struct key_findings found;
	size_t count;
	uint64_t blocks[LOOK_AT_ONCE];
	struct block_scan looks[LOOK_AT_ONCE];
};

/* --- one block ------------------------------------------------------------ */

enum carries {
	CARRIES_NOTHING,
	CARRIES_IT,
	CARRIES_ANOTHER, /* codes of another version */
};

static int what_carries(struct retire_pass *s, uint64_t block,
			enum carries *ret, struct error *err)
{
	const struct codespace *codes = s->space->codes;
	bool has = false;

	if (link_count_any(s->what->redis, s->space, block, s->what->version,
			   &has, err))
		return -1;
	*ret = has ? CARRIES_IT : CARRIES_NOTHING;
	for (unsigned v = 0; v < CODE_VERSIONS && !has; v++) {
		if (v == s->what->version || !codespace_has_version(codes, v))
			continue;
		if (link_count_any(s->what->redis, s->space, block, v, &has,
				   err))
			return -1;
		if (has)
			*ret = CARRIES_ANOTHER;
	}
	return 0;
}

static void note_last(struct retire_pass *s, uint64_t *count, int64_t end)
{
	int64_t until = end + linkstore_config(s->space->store)->quarantine;

	++*count;
	if (until > s->found.last)
		s->found.last = until;
}

static int judge_live(struct retire_pass *s, uint64_t block,
		      const struct block_scan *look, struct error *err)
{
	enum carries carries;

	if (what_carries(s, block, &carries, err))
		return -1;
	if (carries == CARRIES_ANOTHER)
		return 0;
	/* Links without an end leave at least a tombstone; without one, no
	 * code was ever stored.  It is unknown when a blocked link will be
	 * let go. */
	if (look->end == DURATION_NEVER ||
	    (look->has_blocked && carries == CARRIES_IT))
		s->found.endless += carries == CARRIES_IT;
	else
		note_last(s, &s->found.live, look->end);
	return 0;
}

/* Also checks blocks that were skipped when Redis had lost data: their holder
 * may have made codes. */
static int judge_lost(struct retire_pass *s, uint64_t block, struct error *err)
{
	bool has = false;

	if (link_count_any(s->what->redis, s->space, block, s->what->version,
			   &has, err))
		return -1;
	s->found.lost += has;
	return 0;
}

static int evaluate_block(struct retire_pass *s, uint64_t block,
			  const struct block_scan *look, struct error *err)
{
	const struct links_config *config = linkstore_config(s->space->store);

	if (look->state == BLOCK_LOST)
		return judge_lost(s, block, err);
	if (look->opened > s->what->used + config->hold_max)
		return 0;
	if (look->state == BLOCK_LIVE)
		return judge_live(s, block, look, err);
	if (look->end != DURATION_NEVER &&
	    look->end + config->quarantine > s->what->now)
		note_last(s, &s->found.ended, look->end);
	return 0;
}

/* --- all blocks ----------------------------------------------------------- */

static int look_at_noted(struct retire_pass *s, struct error *err)
{
	if (reclaim_lock_keep(s->what->redis, s->what->lock, err) ||
	    block_scan_read(s->what->redis, s->space, s->blocks, s->count,
			    s->what->now, s->looks, err))
		return -1;
	for (size_t i = 0; i < s->count; i++)
		if (evaluate_block(s, s->blocks[i], &s->looks[i], err))
			return -1;
	s->found.looked += s->count;
	s->count = 0;
	return 0;
}

static int note_range(struct retire_pass *s, const struct block_range *range,
		      struct error *err)
{
	for (uint64_t block = range->first; block <= range->last; block++) {
		s->blocks[s->count++] = block;
		if (s->count == LOOK_AT_ONCE && look_at_noted(s, err))
			return -1;
	}
	return 0;
}

/* Pool members out of quarantine ended long ago, so they are skipped. */
static int note_member(void *arg, const struct set_member *member,
		       struct error *err)
{
	struct retire_pass *s = arg;

	if (!member->sound)
		return error_set(err, ERROR_UNSAFE,
				 "space %s: %s has a member that is no range",
				 s->space->name, space_set_name(member->set));
	if (member->set == SET_POOL && member->score <= s->what->now)
		return 0;
	return note_range(s, &member->range, err);
}

/* Members come and go under the lock only by grants and hand-backs, which have
 * ended for this version, and by hand, which retiring detects.  So the walk
 * meets every other member. */
static int walk_all(struct retire_pass *s, struct error *err)
{
	static const enum space_set sets[] = {SET_ISSUED, SET_POOL, SET_OUT};

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (space_walk(s->what->redis, s->space, sets[i], note_member,
			       s, err))
			return -1;
	return look_at_noted(s, err);
}

/* Searches all blocks issued or in quarantine.  Call it when no holder has a
 * block that was granted for the version. */
static int key_search(const struct key_search *search, struct key_findings *ret,
		      struct error *err)
{
	struct retire_pass *s = calloc(1, sizeof(*s));
	int status;

	if (!s)
		return error_set_nomem(err);
	s->what = search;
	s->space = search->lock->space;
	status = walk_all(s, err);
	if (status == 0)
		*ret = s->found;
	free(s);
	return status;
}

/* --- retire --------------------------------------------------------------- */

#define LOCK_TTL CLOCK_MINUTE

/* A line of the log of manual changes. */
#define HAND_MAX 512

struct retiring {
	struct redis *redis;
	const struct link_space *space;
	unsigned version;
	char print[CODE_FINGERPRINT_MAX];
	int64_t now, used; /* Redis' clock */
	char hand[HAND_MAX];
	struct reclaim_lock lock;
	struct key_findings found;
};

/* --- results -------------------------------------------------------------- */

static int refuse_found(const struct retiring *r, struct error *err)
{
	const struct key_findings *f = &r->found;
	char when[RFC3339_TEXT_MAX];

	if (f->lost)
		return error_set(err, ERROR_UNSAFE,
				 "space %s: %" PRIu64 " blocks with links of "
				 "key version %u have no marker: Redis has "
				 "lost data",
				 r->space->name, f->lost, r->version);
	if (f->endless)
		return error_set(err, ERROR_UNSAFE,
				 "space %s: key version %u cannot be retired: "
				 "%" PRIu64 " blocks hold links of it that "
				 "never expire.  Keep the key where it reads",
				 r->space->name, r->version, f->endless);
	if (!f->live && !f->ended)
		return 0;
	rfc3339_format(f->last, when);
	return error_set_retriable(
		err, ERROR_BUSY,
		"space %s: key version %u is in use: %" PRIu64
		" blocks may hold links of it, %" PRIu64
		" are in quarantine.  It "
		"can be retired from %s on%s",
		r->space->name, r->version, f->live, f->ended, when,
		f->live ? ", later where visits renew links" : "");
}

/* Refuses while codes may still be made with the key, or unused blocks of its
 * grants may still be handed back. */
static int refuse_held(const struct retiring *r, struct error *err)
{
	int64_t hold = linkstore_config(r->space->store)->hold_max,
		margin = hold / 8;
	char used[RFC3339_TEXT_MAX], until[RFC3339_TEXT_MAX];

	if (margin > CLOCK_MINUTE)
		margin = CLOCK_MINUTE;
	if (r->now > r->used + hold + margin)
		return 0;
	return error_set_retriable(
		err, ERROR_BUSY,
		"space %s: blocks were granted for key version %u as late as "
		"%s: codes may be made with it for links.hold_max.  Try again "
		"after %s",
		r->space->name, r->version, rfc3339_format(r->used, used),
		rfc3339_format(r->used + hold + margin, until));
}

/* --- Redis ---------------------------------------------------------------- */

static int read_key(struct retiring *r, struct error *err)
{
	struct command c;
	redisReply *reply;

	command_script(&c, r->space, SCRIPT_KEY_READ);
	command_space_key(&c, "space:", r->space);
	command_space_key(&c, "hand:", r->space);
	command_number(&c, r->version);
	if (command_run(&c, r->redis, &reply, err))
		return -1;
	r->now = reply_number(reply, 0, 0);
	snprintf(r->print, sizeof(r->print), "%s", reply_text(reply, 1));
	r->used = reply_number(reply, 2, 0);
	snprintf(r->hand, sizeof(r->hand), "%s", reply_text(reply, 3));
	freeReplyObject(reply);
	if (*r->print)
		return 0;
	return error_set(err, ERROR_NOTFOUND,
			 "space %s: key version %u is not in use",
			 r->space->name, r->version);
}

static int parse_retired(const redisReply *reply, const struct retiring *r,
			 struct error *err)
{
	const char *why = "";

	if (!reply_is_array(reply, 1))
		return reply_malformed("key_retire", err);
	if (reply_number(reply, 0, 0) == 1)
		return 0;
	if (reply->elements > 1)
		why = reply_text(reply, 1);
	if (!strcmp(why, "lock"))
		return reply_refused(reply, r->space, err);
	return error_set_retriable(
		err, ERROR_BUSY,
		"space %s: %s while its blocks were looked "
		"through: start again",
		r->space->name,
		!strcmp(why, "forgot") ? "Redis has restarted"
		: !strcmp(why, "hand") ? "blocks were moved by hand"
				       : "the key was used");
}

static int retire_key_version(const struct retiring *r, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	command_script(&c, r->space, SCRIPT_KEY_RETIRE);
	command_space_key(&c, "lock:", r->space);
	command_space_key(&c, "space:", r->space);
	command_space_key(&c, "hand:", r->space);
	command_text(&c, r->lock.value);
	command_number(&c, r->version);
	command_text(&c, r->print);
	command_number(&c, (uint64_t)r->used);
	command_text(&c, r->hand);
	if (command_run(&c, r->redis, &reply, err))
		return -1;
	status = parse_retired(reply, r, err);
	freeReplyObject(reply);
	return status;
}

static int look_through(struct retiring *r, struct error *err)
{
	const struct key_search search = {
		.redis = r->redis,
		.lock = &r->lock,
		.version = r->version,
		.now = r->now,
		.used = r->used,
	};

	return key_search(&search, &r->found, err);
}

/* A version that was never used has no codes, so no search is needed. */
static int look_and_retire(struct retiring *r, struct error *err)
{
	if (r->used && (refuse_held(r, err) || look_through(r, err) ||
			refuse_found(r, err)))
		return -1;
	return retire_key_version(r, err);
}

/* --- entry ---------------------------------------------------------------- */

static int check_version(const struct link_space *space, unsigned version,
			 struct error *err)
{
	static const char *const why[] = {
		[LINK_HASH] =
			"its codes do not show which key they were made with",
		[LINK_SNOWFLAKE] =
			"its links are in no blocks that could show whether "
			"one is left: keep the key where it reads",
		[LINK_ALIAS] = "it has none",
	};

	if (space->strategy != LINK_SEQUENCE)
		return error_set(err, ERROR_INPUT,
				 "space %s: keys cannot be retired: %s",
				 space->name, why[space->strategy]);
	if (version >= CODE_VERSIONS ||
	    !codespace_has_version(space->codes, version))
		return error_set(err, ERROR_CONFIG,
				 "space %s: key version %u is not configured "
				 "here, so its codes cannot be looked for: "
				 "retire a key before removing it",
				 space->name, version);
	if ((int)version == linkstore_key_version(space))
		return error_set(err, ERROR_CONFIG,
				 "space %s: new codes are made with key "
				 "version %u: put another key first",
				 space->name, version);
	return 0;
}

int space_retire_key(struct redis *redis, const struct link_space *space,
		     unsigned version, uint64_t *ret_blocks, struct error *err)
{
	struct retiring r = {
		.redis = redis, .space = space, .version = version};
	const struct high_water high_water = linkstore_noted_high_water(space);
	struct error unlock;
	int status;

	/* A Redis that lost data is repaired first: its record then shows which
	 * blocks may have been granted, and for which versions. */
	if (check_version(space, version, err) ||
	    space_safety_check(redis, space, NULL, err) ||
	    space_raise_cursor(redis, space, &high_water, err) ||
	    read_key(&r, err) ||
	    reclaim_lock_take(redis, space, LOCK_TTL, &r.lock, err))
		return -1;
	status = look_and_retire(&r, err);
	/* A lock that cannot be released expires. */
	reclaim_lock_release(redis, &r.lock, &unlock);
	if (status == 0)
		*ret_blocks = r.found.looked;
	return status;
}
