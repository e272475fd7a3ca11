#include "redirector/visit/counted_visits.h"

#include <stdlib.h>

#include "linkstore/link/visit_count.h"

/* A visit that is being counted in Redis. */
struct counted_visit {
	struct counted_visits *owner;
	struct http_request *req;
	struct cached_link *link; /* a copy: the cache may drop the original */
	struct freshness_mark asked;
	struct link_target target;
	bool fetch; /* not a visit: see robots.h */
};

/* Returns the cache entry of the same link in the same version, if it is still
 * there. */
static struct cached_link *entry_of(const struct counted_visit *c)
{
	struct cached_link *entry =
		known_links_find(c->owner->known, link_target_code(&c->target));

	return entry && entry->link_id == c->link->link_id &&
			       entry->asked.change == c->link->asked.change
		       ? entry
		       : NULL;
}

/* Marks the link as ended in the cache.  The entry does not stand in while
 * Redis is away: the link may have been given more visits meanwhile. */
static void note_end(const struct counted_visit *c, int64_t fresh_until)
{
	struct cached_link *entry = entry_of(c);

	if (!entry)
		return;
	entry->outcome = LINK_OUTCOME_GONE;
	if (entry->fresh_until > fresh_until)
		entry->fresh_until = fresh_until;
	entry->stale_until = entry->fresh_until;
}

static void renew_counted(const struct counted_visit *c)
{
	struct cached_link *entry = entry_of(c);

	if (!c->link->renew || (entry && !entry->renew))
		return;
	if (entry)
		entry->renew = false;
	renewer_check(c->owner->renewer, &c->target);
}

/* True if the link has changed since the visit came: it may lead elsewhere now.
 * The visit is used up all the same. */
static bool leads_elsewhere(const struct counted_visit *c)
{
	return c->link->outcome == LINK_OUTCOME_REDIRECT &&
	       known_links_changed_since(c->owner->known,
					 link_target_code(&c->target),
					 &c->asked);
}

static void finish_counted(struct counted_visit *c, const struct error *err)
{
	struct counted_visits *v = c->owner;

	if (err || leads_elsewhere(c)) {
		if (err)
			redirector_log_lookup_failure(v->redirector, err);
		responder_send_unavailable(v->responder, c->req,
					   COUNTER_UNAVAILABLE);
	} else {
		denied_links_evaluate(v->denied, c->link);
		responder_send_counted(v->responder, c->req, c->link,
				       loop_now_ms(v->loop));
	}
	free(c->link);
	free(c);
}

/* Called when there was no visit left, or the link has ended. */
static void finish_gone(struct counted_visit *c, int64_t fresh_until)
{
	c->link->outcome = LINK_OUTCOME_GONE;
	note_end(c, fresh_until);
	finish_counted(c, NULL);
}

static void finish_allowed(struct counted_visit *c)
{
	struct counted_visits *v = c->owner;

	if (c->fetch) {
		redirector_count(v->counters, COUNTER_FETCHES);
	} else {
		redirector_count(v->counters, COUNTER_VISITS);
		renew_counted(c);
	}
	finish_counted(c, NULL);
}

/* Called when visits are left, but only people may have them. */
static void refuse_fetch(struct counted_visit *c)
{
	redirector_count(c->owner->counters, COUNTER_FETCHES_OVER);
	responder_send_over_fetches(c->owner->responder, c->req);
	free(c->link);
	free(c);
}

static void on_counted(void *arg, enum visit_count result, uint64_t used,
		       const struct error *err)
{
	struct counted_visit *c = arg;
	struct counted_visits *v = c->owner;

	(void)used;
	link_source_ended(v->source, err);
	if (err && err->code == ERROR_NOTFOUND) {
		redirector_count(v->counters, COUNTER_VISITS_OVER);
		finish_gone(c, loop_now_ms(v->loop) +
				       v->redirector->config->redirector
					       .cache_negative_ttl);
	} else if (err) {
		redirector_count(v->counters, COUNTER_VISITS_FAILED);
		finish_counted(c, err);
	} else if (result == FETCH_NONE_LEFT) {
		refuse_fetch(c);
	} else if (result == VISIT_NONE_LEFT) {
		redirector_count(v->counters, COUNTER_VISITS_OVER);
		finish_gone(c, INT64_MAX);
	} else {
		finish_allowed(c);
	}
}

/* Returns the number of visits of the link, or the setting if that is
 * higher. */
static uint64_t max_fetches(const struct counted_visit *c)
{
	int64_t least =
		c->owner->redirector->config->redirector.uncounted_fetches;

	if (least && (uint64_t)least < c->link->max_visits)
		return c->link->max_visits;
	return (uint64_t)least;
}

static bool is_fetch(struct counted_visits *v, const struct http_request *req)
{
	const struct redirector_settings *s =
		&v->redirector->config->redirector;
	struct click click;

	responder_read_click(v->responder, req, &click);
	return robots_view_is_fetch(&v->robots, &click,
				    http_method_is(req, "HEAD"),
				    (size_t)s->max_user_agent);
}

static int count_visit_or_fetch(struct counted_visit *c, struct error *err)
{
	const struct cached_link *link = c->link;

	if (c->fetch)
		return link_count_fetch_async(
			c->owner->redis, &c->target, link->link_id,
			link->max_visits, max_fetches(c), on_counted, c, err);
	return link_count_visit_async(c->owner->redis, &c->target,
				      link->link_id, link->max_visits,
				      on_counted, c, err);
}

int counted_visits_begin(struct counted_visits *v, struct http_request *req,
			 struct http_slice code, const struct cached_link *link,
			 struct error *err)
{
	struct counted_visit *c = calloc(1, sizeof(*c));

	if (!c)
		return error_set_nomem(err);
	c->owner = v;
	c->req = req;
	c->fetch = is_fetch(v, req);
	c->asked = known_links_mark(v->known);
	c->link = cached_link_copy(link);
	if (!c->link)
		error_set_nomem(err);
	else if (!linkstore_locate(v->redirector->store, code.data, code.len,
				   &c->target))
		error_set(err, ERROR_INPUT, "this is no code of a link");
	else if (count_visit_or_fetch(c, err) == 0) {
		link_source_begun(v->source);
		return 0;
	}
	redirector_count(v->counters, COUNTER_VISITS_FAILED);
	free(c->link);
	free(c);
	return -1;
}

void counted_visits_release(struct counted_visits *v)
{
	robots_view_release(&v->robots);
}
