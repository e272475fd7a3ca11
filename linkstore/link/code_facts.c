#include "linkstore/link/code_facts.h"

#include <stdlib.h>

#include "linkstore/command.h"
#include "linkstore/link/link_copy.h"

struct facts_reading {
	struct redis_async *redis;
	struct code_facts facts;
	Shortloop__Link *link; /* a copy */
	code_facts_fn *fn;
	void *arg;
};

static void finish_reading(struct facts_reading *r, const struct error *err)
{
	r->fn(r->arg, err ? NULL : &r->facts, err);
	if (r->link)
		shortloop__link__free_unpacked(r->link, NULL);
	free(r);
}

/* --- visits, after the marker, after the link ----------------------------- */

static void on_visits(void *arg, const redisReply *reply,
		      const struct error *err)
{
	struct facts_reading *r = arg;
	struct error why;

	if (!err && !reply_is_array(reply, 1)) {
		reply_malformed("HMGET", &why);
		err = &why;
	}
	if (!err)
		r->facts.visits = (uint64_t)reply_number(reply, 0, 0);
	finish_reading(r, err);
}

static void read_visits(struct facts_reading *r)
{
	struct command c;
	struct error err;

	if (!r->link || !r->link->max_visits) {
		finish_reading(r, NULL);
		return;
	}
	command_plain(&c, "HMGET");
	command_visits_key(&c, &r->facts.target, r->link->link_id);
	command_text(&c, "visits");
	if (command_send(&c, r->redis, on_visits, r, &err) < 0)
		finish_reading(r, &err);
}

static void on_marker(void *arg, const redisReply *reply,
		      const struct error *err)
{
	struct facts_reading *r = arg;
	const redisReply *text;
	struct error why;

	if (!err && !reply_is_array(reply, 1)) {
		reply_malformed("MGET", &why);
		err = &why;
	}
	if (err) {
		finish_reading(r, err);
		return;
	}
	text = reply->element[0];
	r->facts.has_marker =
		text->type == REDIS_REPLY_STRING &&
		marker_parse(text->str, text->len, &r->facts.marker);
	read_visits(r);
}

static void read_marker(struct facts_reading *r)
{
	const struct link_target *target = &r->facts.target;
	struct command c;
	struct error err;

	if (!link_space_has_blocks(target->space)) {
		read_visits(r);
		return;
	}
	command_plain(&c, "MGET");
	command_marker_key(&c, target->space, target->block);
	if (command_send(&c, r->redis, on_marker, r, &err) < 0)
		finish_reading(r, &err);
}

static void on_link(void *arg, const struct link_answer *answer,
		    const struct error *err)
{
	struct facts_reading *r = arg;
	struct error why;

	if (!err) {
		r->facts.answer = *answer;
		if (answer->link)
			r->link = link_copy(answer->link);
		r->facts.answer.link = r->link;
	}
	if (!err && answer->link && !r->link) {
		error_set_nomem(&why);
		err = &why;
	}
	if (err)
		finish_reading(r, err);
	else
		read_marker(r);
}

int code_facts_read_async(struct redis_async *redis,
			  const struct link_target *target, code_facts_fn *fn,
			  void *arg, struct error *err)
{
	struct facts_reading *r = calloc(1, sizeof(*r));

	if (!r)
		return error_set_nomem(err);
	r->redis = redis;
	r->facts.target = *target;
	r->fn = fn;
	r->arg = arg;
	if (link_lookup_async(redis, target, on_link, r, err) == 0)
		return 0;
	free(r);
	return -1;
}
