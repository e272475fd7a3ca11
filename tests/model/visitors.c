#include "tests/model/visitors.h"

#include <inttypes.h>

#include "common/clock.h"
#include "common/drop_const.h"
#include "linkstore/block/renew.h"
#include "linkstore/link/edit.h"

void visitors_init(struct visitors *v, struct world *w, struct lives *l)
{
	*v = (struct visitors){.world = w, .lives = l};
}

void visitors_free(struct visitors *v)
{
	for (size_t i = 0; i < v->count; i++)
		shortloop__link__free_unpacked(v->late[i].link, NULL);
}

static void put_off(struct visitors *v, const struct link_target *target,
		    const Shortloop__Link *link)
{
	uint8_t record[512];
	size_t len = shortloop__link__pack(link, record);

	if (v->count == INTENTS)
		return;
	v->late[v->count++] = (struct intent){
		*target, shortloop__link__unpack(NULL, len, record)};
}

/* --- visits --------------------------------------------------------------- */

static void renew_link(struct visitors *v, const struct link_target *target,
		       const Shortloop__Link *link)
{
	struct world *w = v->world;
	struct life *life = lives_of_id(v->lives, link->link_id);
	struct span when = {.before = clock_real_ms()};
	int64_t left;

	if (await_renew(w->await, target, link, &left, &w->err))
		world_broken(w, "%s:%" PRIu64 " renewal: %s",
			     target->space->name, target->block, w->err.text);
	when.after = clock_real_ms();
	v->renewals++;
	if (!left || life->doubtful)
		return;
	if (when.before > life->gone_by)
		world_broken(w, "%s:%" PRIu64 " link %s renewed after its end",
			     target->space->name, target->block, target->code);
	world_say(w, "%s:%" PRIu64 " link %s renewed: %" PRId64 " left",
		  target->space->name, target->block, target->code, left);
	if (left == DURATION_NEVER)
		lives_prolonged(v->lives, life, left, left);
	else
		lives_prolonged(v->lives, life, when.before + left,
				when.after + left);
}

/* Looks the link up and compares the answer with the model. */
static void look_up(struct visitors *v, const struct link_target *target,
		    struct link_answer *ret_answer)
{
	struct world *w = v->world;
	struct span when = {.before = clock_real_ms()};

	if (await_lookup(w->await, target, ret_answer, &w->err))
		world_broken(w, "%s:%" PRIu64 " look-up: %s",
			     target->space->name, target->block, w->err.text);
	when.after = clock_real_ms();
	lives_looked_up(v->lives, target, ret_answer, when);
}

void visitors_visit(struct visitors *v)
{
	const struct life *life = lives_any(v->lives);
	struct link_target target;
	struct link_answer answer;

	if (!life)
		return;
	target = life->target;
	v->visits++;
	look_up(v, &target, &answer);
	if (answer.link && rng_chance(&v->world->rng, 40))
		put_off(v, &target, answer.link);
	if (answer.renew)
		renew_link(v, &target, answer.link);
	await_release(&answer.link);
}

/* --- edits ---------------------------------------------------------------- */

/* Returns NULL if the edit is not allowed, or the link in the model. */
static struct life *find_editable_life(struct visitors *v,
				       const Shortloop__Link *read)
{
	struct life *life = lives_of_id(v->lives, read->link_id);

	return life && life->version == read->version &&
			       lives_of_code(v->lives, &life->target) == life
		       ? life
		       : NULL;
}

static void update_edited_life(struct visitors *v,
			       const struct link_target *target,
			       const Shortloop__Link *read,
			       const Shortloop__Link *after, int64_t ends)
{
	struct life *life = lives_of_id(v->lives, read->link_id);
	struct world *w = v->world;
	char tag[64];

	life_tag(life, tag);
	if (!life->doubtful && !find_editable_life(v, read))
		world_broken(w,
			     "%s code %s: an edit of version %u of %s was "
			     "taken",
			     tag, target->code, read->version, read->url);
	if (after->state == SHORTLOOP__LINK_STATE__LINK_BLOCKED &&
	    ends != DURATION_NEVER)
		world_broken(w, "%s link %s is blocked, and ends", tag,
			     target->code);
	life->version = after->version;
	life->deleted = after->state == SHORTLOOP__LINK_STATE__LINK_DELETED;
	lives_moderated(life,
			after->state == SHORTLOOP__LINK_STATE__LINK_BLOCKED);
	if (after->url)
		snprintf(life->url, sizeof(life->url), "%s", after->url);
	lives_prolonged(v->lives, life, ends, ends);
	world_say(w, "%s link %s %s until %" PRId64, tag, target->code,
		  life->deleted	  ? "deleted"
		  : life->blocked ? "blocked"
				  : after->url,
		  ends == DURATION_NEVER ? -1 : ends % 1000000);
}

static void write_edit(struct visitors *v, const struct link_target *target,
		       const Shortloop__Link *read,
		       const Shortloop__Link *after,
		       const struct link_class *ttl)
{
	struct life *life = lives_of_id(v->lives, read->link_id);
	struct world *w = v->world;
	int64_t ends;

	if (await_edit(w->await, target, read, after, ttl, &ends, &w->err) ==
	    0) {
		update_edited_life(v, target, read, after, ends);
		return;
	}
	if (w->err.code != ERROR_NOTFOUND && w->err.code != ERROR_CONFLICT)
		world_broken(w, "%s:%" PRIu64 " edit: %s", target->space->name,
			     target->block, w->err.text);
	if (life && life == find_editable_life(v, read) && !life->deleted &&
	    life_is_there(life, clock_real_ms()))
		world_broken(w,
			     "%s:%" PRIu64 " link %s: the edit of what is "
			     "there was refused: %s",
			     target->space->name, target->block, target->code,
			     w->err.text);
}

/* Deletes a link, mostly so that it can be restored. */
static void delete_link(struct visitors *v, const struct link_target *target,
			const Shortloop__Link *read, int64_t left)
{
	Shortloop__Link after;

	if (rng_chance(&v->world->rng, 20))
		link_edit_purge(read, &after);
	else
		link_edit_delete(read, left, &after);
	after.changed_ms = v->edits++;
	write_edit(v, target, read, &after, NULL);
}

static void restore_link(struct visitors *v, const struct link_target *target,
			 const Shortloop__Link *read)
{
	Shortloop__Link after;

	link_edit_restore(read, &after);
	after.changed_ms = v->edits++;
	v->restores++;
	write_edit(v, target, read, &after, NULL);
}

/* `left`: the link's remaining life, as it was read. */
static void edit_link(struct visitors *v, const struct link_target *target,
		      const Shortloop__Link *read, int64_t left)
{
	struct world *w = v->world;
	const struct link_class *ttl = NULL;
	Shortloop__Link after = *read;
	char url[40];

	if (rng_chance(&w->rng, 25)) {
		delete_link(v, target, read, left);
		return;
	}
	snprintf(url, sizeof(url), "https://example.org/edit/%" PRIu64,
		 v->edits++);
	after.url = url;
	after.state = rng_chance(&w->rng, 30)
			      ? SHORTLOOP__LINK_STATE__LINK_PAUSED
			      : SHORTLOOP__LINK_STATE__LINK_LIVE;
	if (rng_chance(&w->rng, 50))
		ttl = world_class(
			w, rng_below(&w->rng, w->config.ttl_classes.count));
	link_edit_prepare(read, ttl, &after);
	write_edit(v, target, read, &after, ttl);
}

static void moderate_link(struct visitors *v, const struct life *life)
{
	struct link_target target = life->target;
	struct link_answer answer;
	Shortloop__Link after;

	look_up(v, &target, &answer);
	if (answer.link && answer.outcome != LINK_OUTCOME_GONE) {
		after = *answer.link;
		link_edit_prepare(answer.link, NULL, &after);
		after.state = answer.outcome == LINK_OUTCOME_BLOCKED
				      ? SHORTLOOP__LINK_STATE__LINK_LIVE
				      : SHORTLOOP__LINK_STATE__LINK_BLOCKED;
		link_edit_keep_life(answer.link, NULL, answer.ttl_left, &after);
		v->blocks += answer.outcome != LINK_OUTCOME_BLOCKED;
		write_edit(v, &target, answer.link, &after, NULL);
	}
	await_release(&answer.link);
}

void visitors_moderate(struct visitors *v)
{
	const struct life *life = lives_any(v->lives);

	if (life)
		moderate_link(v, life);
}

void visitors_let_go(struct visitors *v)
{
	struct link_answer answer;

	for (size_t i = 0; i < v->lives->count; i++) {
		const struct life *life = &v->lives->all[i];

		if (!life->blocked && !life->doubtful)
			continue;
		/* The state that Redis has forgotten is read first. */
		look_up(v, &life->target, &answer);
		if (answer.outcome == LINK_OUTCOME_BLOCKED &&
		    answer.link->link_id == life->link_id)
			moderate_link(v, life);
		await_release(&answer.link);
	}
}

static bool is_in_use(const Shortloop__Link *link)
{
	return link->state == SHORTLOOP__LINK_STATE__LINK_LIVE ||
	       link->state == SHORTLOOP__LINK_STATE__LINK_PAUSED;
}

void visitors_edit(struct visitors *v)
{
	const struct life *life = lives_any(v->lives);
	struct link_target target;
	struct link_answer answer;

	if (!life)
		return;
	target = life->target;
	look_up(v, &target, &answer);
	if (answer.link && is_in_use(answer.link))
		edit_link(v, &target, answer.link, answer.ttl_left);
	else if (answer.link && link_edit_may_restore(answer.link))
		restore_link(v, &target, answer.link);
	await_release(&answer.link);
}

void visitors_come_late(struct visitors *v)
{
	struct rng *rng = &v->world->rng;
	struct intent intent;
	size_t i;

	if (!v->count)
		return;
	i = rng_below(rng, v->count);
	intent = v->late[i];
	v->late[i] = v->late[--v->count];
	if (rng_chance(rng, 60) || !is_in_use(intent.link))
		renew_link(v, &intent.target, intent.link);
	else
		edit_link(v, &intent.target, intent.link, 0);
	shortloop__link__free_unpacked(intent.link, NULL);
}
