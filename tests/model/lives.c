#include "tests/model/lives.h"

#include <inttypes.h>

#include "common/clock.h"

void lives_init(struct lives *l, struct world *w)
{
	memset(l, 0, sizeof(*l));
	l->world = w;
}

void lives_free(struct lives *l)
{
	free(l->all);
	map_free(&l->by_id);
	map_free(&l->by_slot);
	map_free(&l->opened);
	map_free(&l->granted);
	map_free(&l->highest);
	map_free(&l->waiting);
}

const char *life_tag(const struct life *life, char text[64])
{
	snprintf(text, 64, "%s:%" PRIu64, life->target.space->name,
		 life->target.block);
	return text;
}

/* --- keys ----------------------------------------------------------------- */

static uint64_t slot_key(const struct link_target *t)
{
	return (uint64_t)t->space->number << 58 | (t->id + 1);
}

static uint64_t block_key(size_t space, uint64_t block, uint32_t generation)
{
	return (uint64_t)(space + 1) << 60 | (uint64_t)generation << 44 |
	       (block + 1);
}

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 14695981039346656037U;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211U;
	return hash | 1;
}

struct life *lives_of_id(const struct lives *l, uint64_t link_id)
{
	uint64_t at = map_get(&l->by_id, link_id);

	return at ? &l->all[at - 1] : NULL;
}

struct life *lives_of_code(const struct lives *l, const struct link_target *t)
{
	uint64_t at = map_get(&l->by_slot, slot_key(t));

	return at ? &l->all[at - 1] : NULL;
}

struct life *lives_any(const struct lives *l)
{
	size_t last = l->count < 400 ? l->count : 400;

	if (!last)
		return NULL;
	return &l->all[l->count - 1 - rng_below(&l->world->rng, last)];
}

/* --- blocks --------------------------------------------------------------- */

/* A block is in quarantine after the last of its links.  The exception are
 * links of a late writer, accepted by a node that had forgotten to have closed
 * the block: no other holder opens it then. */
static void check_quarantine(const struct lives *l, size_t space,
			     uint64_t block)
{
	const struct link_space *s = world_space(l->world, space);
	struct link_target target = {.space = s, .block = block};
	int64_t free_by =
		clock_real_ms() + CLOCK_SLACK - l->world->config.quarantine;
	const struct life *life;

	if (l->closes_forgotten)
		return;
	for (uint32_t i = 0; i < s->block_size; i++) {
		target.id = block * s->block_size + i;
		life = lives_of_code(l, &target);
		if (!life || life->promised <= free_by)
			continue;
		world_broken(l->world,
			     "%s:%" PRIu64 " granted %" PRId64
			     " ms before the end of its quarantine",
			     s->name, block, life->promised - free_by);
	}
}

void lives_handed_back(struct lives *l, size_t space, uint64_t block,
		       uint32_t generation, int64_t before)
{
	map_put(&l->waiting, block_key(space, block, generation),
		(uint64_t)(before + l->world->config.hold_max));
}

/* The wait keeps Redis from forgetting both grants, after which it would grant
 * the block again under the same generation. */
static void check_wait(const struct lives *l, size_t space, uint64_t block,
		       uint32_t generation)
{
	int64_t until = (int64_t)map_get(&l->waiting,
					 block_key(space, block, generation));
	int64_t now = clock_real_ms() + CLOCK_SLACK;

	if (now < until)
		world_broken(l->world,
			     "%s:%" PRIu64 " granted %" PRId64
			     " ms before the end of its wait",
			     world_space(l->world, space)->name, block,
			     until - now);
}

void lives_granted(struct lives *l, size_t space, uint64_t block,
		   uint32_t generation, const char *holder)
{
	struct world *w = l->world;
	const char *name = world_space(w, space)->name;
	uint64_t key = block_key(space, block, generation);
	uint64_t highest = map_get(&l->highest, block_key(space, block, 0));

	world_say(w, "%s:%" PRIu64 " granted, generation %u, to %s", name,
		  block, generation, holder);
	if (map_get(&l->granted, key))
		world_broken(w, "%s:%" PRIu64 " granted twice as %u", name,
			     block, generation);
	if (generation <= highest)
		world_broken(w, "%s:%" PRIu64 " granted as %u after %" PRIu64,
			     name, block, generation, highest);
	check_quarantine(l, space, block);
	check_wait(l, space, block, generation);
	map_put(&l->granted, key, hash_of(holder));
	map_put(&l->highest, block_key(space, block, 0), generation);
}

void lives_opened(struct lives *l, size_t space, uint64_t block,
		  uint32_t generation, const char *holder)
{
	struct world *w = l->world;
	uint64_t key = block_key(space, block, generation);
	uint64_t by = map_get(&l->opened, key);

	world_say(w, "%s:%" PRIu64 " opened, generation %u, by %s",
		  world_space(w, space)->name, block, generation, holder);
	if (by && by != hash_of(holder))
		world_broken(w, "%s:%" PRIu64 " opened by two as %u",
			     world_space(w, space)->name, block, generation);
	map_put(&l->opened, key, hash_of(holder));
}

/* --- links ---------------------------------------------------------------- */

static struct life *add_life(struct lives *l)
{
	if (l->count == l->room) {
		l->room = l->room ? 2 * l->room : 1024;
		l->all = realloc(l->all, l->room * sizeof(*l->all));
		assert_non_null(l->all);
	}
	memset(&l->all[l->count], 0, sizeof(*l->all));
	return &l->all[l->count++];
}

/* A code has one owner at a time, and an id has one for ever. */
static void check_new(const struct lives *l, const struct link_target *target,
		      const Shortloop__Link *link, struct span when)
{
	const struct life *before = lives_of_code(l, target);
	char tag[64];

	if (lives_of_id(l, link->link_id))
		world_broken(l->world, "%s id %" PRIx64 " used twice",
			     life_tag(lives_of_id(l, link->link_id), tag),
			     link->link_id);
	if (before && when.after + CLOCK_SLACK < before->promised)
		world_broken(l->world,
			     "%s code %s of %s is given to %s %" PRId64
			     " ms before its end",
			     life_tag(before, tag), target->code, before->url,
			     link->url, before->promised - when.after);
}

struct life *lives_created(struct lives *l, const struct link_target *target,
			   const Shortloop__Link *link, int64_t ends,
			   struct span when, bool in_time)
{
	struct life *life;
	char tag[64];

	check_new(l, target, link, when);
	life = add_life(l);
	life->target = *target;
	life->link_id = link->link_id;
	life->generation = link->generation;
	life->version = 1;
	life->touched = true;
	snprintf(life->url, sizeof(life->url), "%s", link->url);
	lives_prolonged(l, life, ends, ends);
	life->kept = in_time ? life->promised : 0;
	map_put(&l->by_id, link->link_id, l->count);
	map_put(&l->by_slot, slot_key(target), l->count);
	world_say(l->world, "%s link %s %s until %" PRId64, life_tag(life, tag),
		  target->code, link->url,
		  ends == DURATION_NEVER ? -1 : ends % 1000000);
	return life;
}

void lives_prolonged(struct lives *l, struct life *life, int64_t from,
		     int64_t to)
{
	bool never = from == DURATION_NEVER;

	(void)l;
	life->there_until = never ? INT64_MAX : from - CLOCK_SLACK;
	life->gone_by = never ? INT64_MAX : to + CLOCK_SLACK;
	if (life->there_until > life->promised)
		life->promised = life->there_until;
	life->touched = true;
}

void lives_moderated(struct life *life, bool blocked)
{
	if (blocked && !life->blocked)
		life->unblocked = life->promised;
	else if (!blocked && life->blocked)
		life->promised = life->unblocked;
	life->blocked = blocked;
}

/* --- visits --------------------------------------------------------------- */

static void check_missing(struct lives *l, const struct link_target *target,
			  struct span when)
{
	const struct life *life = lives_of_code(l, target);
	char tag[64];

	if (life && life_is_there(life, when.after))
		world_broken(l->world, "%s live link %s of %s is lost",
			     life_tag(life, tag), target->code, life->url);
}

static void check_found(struct lives *l, const struct life *life,
			const Shortloop__Link *link, struct span when)
{
	bool deleted = link->state == SHORTLOOP__LINK_STATE__LINK_DELETED;
	bool blocked = link->state == SHORTLOOP__LINK_STATE__LINK_BLOCKED;
	const struct life *newest = lives_of_code(l, &life->target);
	char tag[64];

	life_tag(life, tag);
	if (newest != life && !newest->doubtful)
		world_broken(l->world, "%s code %s leads to a former owner",
			     tag, life->target.code);
	if (life->doubtful)
		return;
	if (when.before > life->gone_by)
		world_broken(l->world, "%s link %s outlives its end", tag,
			     life->target.code);
	if (link->version != life->version || deleted != life->deleted ||
	    blocked != life->blocked ||
	    (!deleted && strcmp(link->url, life->url) != 0))
		world_broken(l->world, "%s link %s has changed: %s, not %s",
			     tag, life->target.code, link->url, life->url);
}

/* The answer shows the state that Redis had forgotten. */
static void update_doubtful_life(struct lives *l, struct life *life,
				 const struct link_answer *answer,
				 struct span when)
{
	int64_t left = answer->ttl_left;

	if (!life->doubtful || lives_of_code(l, &life->target) != life)
		return;
	life->doubtful = false;
	life->deleted =
		answer->link->state == SHORTLOOP__LINK_STATE__LINK_DELETED;
	life->version = answer->link->version;
	lives_moderated(life, answer->link->state ==
				      SHORTLOOP__LINK_STATE__LINK_BLOCKED);
	snprintf(life->url, sizeof(life->url), "%s", answer->link->url);
	if (left == DURATION_NEVER)
		lives_prolonged(l, life, left, left);
	else
		lives_prolonged(l, life, when.before + left, when.after + left);
}

void lives_looked_up(struct lives *l, const struct link_target *target,
		     const struct link_answer *answer, struct span when)
{
	struct life *life;

	if (!answer->link) {
		check_missing(l, target, when);
		return;
	}
	life = lives_of_id(l, answer->link->link_id);
	if (!life)
		world_broken(l->world, "%s:%" PRIu64 " link %s is nobody's",
			     target->space->name, target->block, target->code);
	update_doubtful_life(l, life, answer, when);
	check_found(l, life, answer->link, when);
}

/* --- forgetting ----------------------------------------------------------- */

void lives_keep(struct lives *l)
{
	for (size_t i = 0; i < l->count; i++) {
		l->all[i].touched = false;
		l->all[i].kept = l->all[i].promised;
	}
}

void lives_forget(struct lives *l)
{
	for (size_t i = 0; i < l->count; i++) {
		struct life *life = &l->all[i];

		if (life->promised > life->kept)
			life->promised = life->kept;
		if (life->touched)
			life->doubtful = true;
		life->touched = false;
	}
}
