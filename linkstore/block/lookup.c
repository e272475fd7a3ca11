#include "linkstore/block/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "codespace/link_id.h"
#include "common/clock.h"
#include "linkstore/command.h"
#include "linkstore/marker.h"
#include "linkstore/target.h"

static bool may_have_expired(const struct link_target *target,
			     const struct link_marker *m)
{
	const struct link_class *class =
		linkstore_class_named(target->space->store, m->class_name);
	int64_t ttl;
	struct error ignored;

	if (!m->open || m->generation > 1)
		return true;
	ttl = class ? class->ttl : 0;
	if (!class && duration_parse(m->class_name, &ttl, &ignored))
		return true;
	return ttl != DURATION_NEVER &&
	       linkstore_now_ms(target->space) >= m->opened + ttl;
}

/*
 * Returns whether the code's last link was of the marker's generation.  While
 * codes of that generation may still be issued, a code that was not issued yet
 * belonged to the former generation, and will belong to another link.  In the
 * first generation there is no other.  The limit is twice hold_max, since the
 * noted clock may be that of another Redis node.
 */
static bool is_of_generation(const struct link_target *target,
			     const struct link_marker *m)
{
	int64_t hold = linkstore_config(target->space->store)->hold_max;

	return !m->open || m->generation == 1 ||
	       linkstore_now_ms(target->space) - m->opened > 2 * hold;
}

static uint64_t former_id(const struct link_target *target,
			  const struct link_marker *m)
{
	const struct link_id_parts parts = {.space = target->space->number,
					    .generation = m->generation,
					    .id = target->id};
	struct error ignored;
	uint64_t id;

	if (!marker_had_links(m) || !is_of_generation(target, m) ||
	    link_id_pack(&parts, &id, &ignored) < 0)
		return 0;
	return id;
}

/* There is no link: decides whether there was one. */
static void judge_absence(const struct link_target *target,
			  const redisReply *marker, struct link_answer *answer)
{
	struct link_marker m;

	answer->outcome = LINK_OUTCOME_UNKNOWN;
	if (marker->type != REDIS_REPLY_STRING ||
	    !marker_parse(marker->str, marker->len, &m) ||
	    !may_have_expired(target, &m))
		return;
	answer->outcome = LINK_OUTCOME_GONE;
	answer->former_id = former_id(target, &m);
}

static int64_t ms_until(const struct link_space *space, uint64_t begin)
{
	uint64_t now;

	if (!begin)
		return 0;
	now = (uint64_t)linkstore_now_ms(space);
	if (begin <= now)
		return 0;
	return begin < INT64_MAX / 2 ? (int64_t)(begin - now) : INT64_MAX / 2;
}

static void judge_link(const struct link_target *target, Shortloop__Link *link,
		       int64_t pttl, struct link_answer *answer)
{
	int64_t below =
		linkstore_renew_below(target->space->store, link->ttl_ms);

	answer->link = link;
	answer->ttl_left = pttl == -1 ? DURATION_NEVER : pttl < 0 ? 0 : pttl;
	switch (link->state) {
	case SHORTLOOP__LINK_STATE__LINK_DELETED:
		answer->outcome = LINK_OUTCOME_GONE;
		break;
	case SHORTLOOP__LINK_STATE__LINK_BLOCKED:
		answer->outcome = LINK_OUTCOME_BLOCKED;
		break;
	case SHORTLOOP__LINK_STATE__LINK_PAUSED:
		answer->outcome = LINK_OUTCOME_PAUSED;
		break;
	default:
		answer->outcome = LINK_OUTCOME_REDIRECT;
		answer->begins_in =
			ms_until(target->space, link->not_before_ms);
		answer->renew = answer->ttl_left < below;
	}
}

int link_lookup_evaluate(const struct link_target *target,
			 const redisReply *record, const redisReply *marker,
			 int64_t pttl, struct link_answer *ret_answer,
			 struct error *err)
{
	struct link_answer answer = {.link = NULL};
	Shortloop__Link *link;

	if (record->type != REDIS_REPLY_STRING) {
		answer.outcome = LINK_OUTCOME_UNKNOWN;
		if (link_space_has_blocks(target->space))
			judge_absence(target, marker, &answer);
		*ret_answer = answer;
		return 0;
	}
	link = shortloop__link__unpack(NULL, record->len,
				       (const uint8_t *)record->str);
	if (!link)
		return error_set(err, ERROR_PROTOCOL,
				 "the record of link %s is damaged",
				 target->code);
	judge_link(target, link, pttl, &answer);
	*ret_answer = answer;
	return 0;
}

void link_lookup_release(struct link_answer *answer)
{
	if (answer->link)
		shortloop__link__free_unpacked(
			(Shortloop__Link *)(uintptr_t)answer->link, NULL);
	answer->link = NULL;
}

/* `reply` answers MGET with the link, and with the marker if the link has a
 * block. */
static int evaluate_lookup_reply(const struct link_target *target,
				 const redisReply *reply, int64_t pttl,
				 struct link_answer *ret_answer,
				 struct error *err)
{
	bool in_block = link_space_has_blocks(target->space);

	if (!reply_is_array(reply, in_block ? 2 : 1))
		return reply_malformed("MGET", err);
	return link_lookup_evaluate(target, reply->element[0],
				    reply->element[in_block ? 1 : 0], pttl,
				    ret_answer, err);
}

/* --- commands ------------------------------------------------------------- */

static void build_pttl(struct command *c, const struct link_target *t)
{
	command_plain(c, "PTTL");
	command_target_key(c, t);
}

static void build_mget(struct command *c, const struct link_target *t)
{
	command_plain(c, "MGET");
	command_target_key(c, t);
	if (link_space_has_blocks(t->space))
		command_marker_key(c, t->space, t->block);
}

/* --- event loop ----------------------------------------------------------- */

/* A look-up is two commands, which are answered in order. */
struct link_lookup {
	struct link_target target;
	link_lookup_fn *fn;
	void *arg;
	int64_t pttl;
	struct error err;
	bool failed;
	bool abandoned; /* the second command was never sent */
};

static void on_pttl(void *arg, const redisReply *reply, const struct error *err)
{
	struct link_lookup *l = arg;

	if (l->abandoned) {
		free(l);
		return;
	}
	if (err) {
		l->failed = true;
		l->err = *err;
	} else {
		l->pttl = reply->integer;
	}
}

static void on_mget(void *arg, const redisReply *reply, const struct error *err)
{
	struct link_lookup *l = arg;
	struct link_answer answer = {.link = NULL};

	if (!err && l->failed)
		err = &l->err;
	if (!err &&
	    evaluate_lookup_reply(&l->target, reply, l->pttl, &answer, &l->err))
		err = &l->err;
	l->fn(l->arg, err ? NULL : &answer, err);
	link_lookup_release(&answer);
	free(l);
}

int link_lookup_async(struct redis_async *redis,
		      const struct link_target *target, link_lookup_fn *fn,
		      void *arg, struct error *err)
{
	struct link_lookup *l = calloc(1, sizeof(*l));
	struct command c;

	if (!l)
		return error_set_nomem(err);
	l->target = *target;
	l->fn = fn;
	l->arg = arg;
	build_pttl(&c, target);
	if (command_send(&c, redis, on_pttl, l, err)) {
		free(l);
		return -1;
	}
	build_mget(&c, target);
	if (command_send(&c, redis, on_mget, l, err)) {
		l->abandoned = true;
		return -1;
	}
	return 0;
}
