#include "linkstore/space/key_search.h"

#include <stdlib.h>

#include "common/clock.h"
#include "linkstore/space/members.h"

#define LOOK_AT_ONCE 1024 /* blocks */

struct pass {
	const struct key_search *what;
	const struct link_space *space;
	struct key_findings found;
	size_t count;
	uint64_t blocks[LOOK_AT_ONCE];
	struct block_look looks[LOOK_AT_ONCE];
};

/* --- one block ------------------------------------------------------------ */

enum carries {
	CARRIES_NOTHING,
	CARRIES_IT,
	CARRIES_ANOTHER, /* codes of another version */
};

static int what_carries(struct pass *s, uint64_t block, enum carries *ret,
			struct error *err)
{
	const struct codespace *codes = s->space->codes;
	bool has = false;

	if (reclaim_has_links(s->what->redis, s->space, block, s->what->version,
			      &has, err))
		return -1;
	*ret = has ? CARRIES_IT : CARRIES_NOTHING;
	for (unsigned v = 0; v < CODE_VERSIONS && !has; v++) {
		if (v == s->what->version || !codespace_has_version(codes, v))
			continue;
		if (reclaim_has_links(s->what->redis, s->space, block, v, &has,
				      err))
			return -1;
		if (has)
			*ret = CARRIES_ANOTHER;
	}
	return 0;
}

static void note_last(struct pass *s, uint64_t *count, int64_t end)
{
	int64_t until = end + linkstore_config(s->space->store)->quarantine;

	++*count;
	if (until > s->found.last)
		s->found.last = until;
}

static int judge_live(struct pass *s, uint64_t block,
		      const struct block_look *look, struct error *err)
{
	enum carries carries;

	if (what_carries(s, block, &carries, err))
		return -1;
	if (carries == CARRIES_ANOTHER)
		return 0;
	/* Links without an end leave at least a tombstone: without any, no code
	 * was ever stored. */
	if (look->end == DURATION_NEVER)
		s->found.endless += carries == CARRIES_IT;
	else
		note_last(s, &s->found.live, look->end);
	return 0;
}

/* Also one that was passed over when Redis forgot: whoever it had been granted
 * to may have made codes of it. */
static int judge_lost(struct pass *s, uint64_t block, struct error *err)
{
	bool has = false;

	if (reclaim_has_links(s->what->redis, s->space, block, s->what->version,
			      &has, err))
		return -1;
	s->found.lost += has;
	return 0;
}

static int judge(struct pass *s, uint64_t block, const struct block_look *look,
		 struct error *err)
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

/* --- all of them ---------------------------------------------------------- */

static int look_at_noted(struct pass *s, struct error *err)
{
	if (reclaim_lock_keep(s->what->redis, s->what->lock, err) ||
	    reclaim_look(s->what->redis, s->space, s->blocks, s->count,
			 s->what->now, s->looks, err))
		return -1;
	for (size_t i = 0; i < s->count; i++)
		if (judge(s, s->blocks[i], &s->looks[i], err))
			return -1;
	s->found.looked += s->count;
	s->count = 0;
	return 0;
}

static int note_range(struct pass *s, const struct block_range *range,
		      struct error *err)
{
	for (uint64_t block = range->first; block <= range->last; block++) {
		s->blocks[s->count++] = block;
		if (s->count == LOOK_AT_ONCE && look_at_noted(s, err))
			return -1;
	}
	return 0;
}

/* Of the pool, what is out of quarantine ended long ago. */
static int note_member(void *arg, const struct set_member *member,
		       struct error *err)
{
	struct pass *s = arg;

	if (!member->sound)
		return error_set(err, ERROR_UNSAFE,
				 "space %s: %s has a member that is no range",
				 s->space->name, space_set_name(member->set));
	if (member->set == SET_POOL && member->score <= s->what->now)
		return 0;
	return note_range(s, &member->range, err);
}

/* Under the lock members come and go by grants and their return alone, which
 * for this version have ended, and by hand, which retiring is told of: each
 * other one is met. */
static int walk_all(struct pass *s, struct error *err)
{
	static const enum space_set sets[] = {SET_ISSUED, SET_POOL, SET_OUT};

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (space_walk(s->what->redis, s->space, sets[i], note_member,
			       s, err))
			return -1;
	return look_at_noted(s, err);
}

int key_search(const struct key_search *search, struct key_findings *ret,
	       struct error *err)
{
	struct pass *s = calloc(1, sizeof(*s));
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
