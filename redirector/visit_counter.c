#include "redirector/visit_counter.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "linkstore/link/visits.h"
#include "linkstore/target.h"

struct visit_counter {
	struct visit_counter_options o;
	visit_counted_fn *fn;
	void *arg;
};

/* A visit that is being counted. */
struct counting {
	struct visit_counter *owner;
	struct http_request *req;
	struct cached_link *link; /* a copy: the cache may let go of it */
	struct link_target target;
};

struct visit_counter *
visit_counter_new(const struct visit_counter_options *options,
		  visit_counted_fn *fn, void *arg, struct error *err)
{
	struct visit_counter *v = calloc(1, sizeof(*v));

	if (!v) {
		error_set_nomem(err);
		return NULL;
	}
	v->o = *options;
	v->fn = fn;
	v->arg = arg;
	return v;
}

void visit_counter_free(struct visit_counter *v)
{
	free(v);
}

/* The entry of the very link, if it is still there. */
static struct cached_link *entry_of(const struct counting *c)
{
	const struct visit_counter_options *o = &c->owner->o;
	struct http_slice code = {c->target.code, strlen(c->target.code)};
	struct cached_link *entry =
		link_cache_get(o->cache, code, loop_now_ms(o->loop));

	return entry && entry->link_id == c->link->link_id ? entry : NULL;
}

/* From here on the cache knows.  It does not stand in while Redis is away: the
 * link may have been given more visits meanwhile. */
static void note_end(const struct counting *c, int64_t fresh_until)
{
	struct cached_link *entry = entry_of(c);

	if (!entry)
		return;
	entry->outcome = LINK_OUTCOME_GONE;
	if (entry->fresh_until > fresh_until)
		entry->fresh_until = fresh_until;
	entry->stale_until = entry->fresh_until;
}

static void renew(const struct counting *c)
{
	struct cached_link *entry = entry_of(c);

	if (!c->link->renew || (entry && !entry->renew))
		return;
	if (entry)
		entry->renew = false;
	lookups_renew(c->owner->o.lookups, &c->target);
}

static void finish(struct counting *c, const struct error *err)
{
	struct visit_counter *v = c->owner;

	v->fn(v->arg, c->req, err ? NULL : c->link, err);
	free(c->link);
	free(c);
}

static void end_link(struct counting *c, int64_t fresh_until)
{
	c->link->outcome = LINK_OUTCOME_GONE;
	note_end(c, fresh_until);
	finish(c, NULL);
}

static void on_counted(void *arg, bool allowed, uint64_t used,
		       const struct error *err)
{
	struct counting *c = arg;
	const struct visit_counter_options *o = &c->owner->o;

	(void)used;
	if (err && err->code == ERROR_NOTFOUND) {
		count(o->counts, COUNT_VISITS_OVER);
		end_link(c, loop_now_ms(o->loop) + o->negative_ttl);
	} else if (err) {
		count(o->counts, COUNT_VISITS_FAILED);
		finish(c, err);
	} else if (!allowed) {
		count(o->counts, COUNT_VISITS_OVER);
		end_link(c, INT64_MAX);
	} else {
		count(o->counts, COUNT_VISITS);
		renew(c);
		finish(c, NULL);
	}
}

static void on_read(void *arg, uint64_t used, const struct error *err)
{
	struct counting *c = arg;

	if (!err && used >= c->link->max_visits)
		end_link(c, INT64_MAX);
	else
		finish(c, err);
}

static int ask(struct counting *c, struct error *err)
{
	const struct visit_counter_options *o = &c->owner->o;
	const struct cached_link *link = c->link;

	if (http_method_is(c->req, "HEAD"))
		return link_read_visits_async(o->redis, &c->target,
					      link->link_id, on_read, c, err);
	return link_count_visit_async(o->redis, &c->target, link->link_id,
				      link->max_visits, on_counted, c, err);
}

int visit_count(struct visit_counter *v, struct http_request *req,
		struct http_slice code, const struct cached_link *link,
		struct error *err)
{
	struct counting *c = calloc(1, sizeof(*c));

	if (!c)
		return error_set_nomem(err);
	c->owner = v;
	c->req = req;
	c->link = cached_link_copy(link);
	if (!c->link)
		error_set_nomem(err);
	else if (!linkstore_locate(v->o.store, code.data, code.len, &c->target))
		error_set(err, ERROR_INPUT, "this is no code of a link");
	else if (ask(c, err) == 0)
		return 0;
	count(v->o.counts, COUNT_VISITS_FAILED);
	free(c->link);
	free(c);
	return -1;
}
