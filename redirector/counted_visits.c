#include "redirector/counted_visits.h"

#include <stdlib.h>

#include "linkstore/link/visits.h"

/* A visit that is being counted in Redis. */
struct counted_visit {
	struct counted_visits *owner;
	struct http_request *req;
	struct cached_link *link; /* a copy: the cache may let go of it */
	struct freshness_mark asked;
	struct link_target target;
};

/* The entry of the very link as it was, if it is still there. */
static struct cached_link *entry_of(const struct counted_visit *c)
{
	struct cached_link *entry =
		known_links_find(c->owner->known, link_target_code(&c->target));

	return entry && entry->link_id == c->link->link_id &&
			       entry->asked.change == c->link->asked.change
		       ? entry
		       : NULL;
}

/* Notes in the cache that the link has ended.  The entry does not stand in
 * while Redis is away: the link may have been given more visits meanwhile. */
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

/* Where the link led when the visit came need not be where it leads now; the
 * visit is used up all the same. */
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
		responder_send_counted(v->responder, c->req, c->link,
				       loop_now_ms(v->loop));
	}
	free(c->link);
	free(c);
}

/* The visit was one too many, or the link has ended. */
static void finish_gone(struct counted_visit *c, int64_t fresh_until)
{
	c->link->outcome = LINK_OUTCOME_GONE;
	note_end(c, fresh_until);
	finish_counted(c, NULL);
}

static void on_counted(void *arg, bool allowed, uint64_t used,
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
	} else if (!allowed) {
		redirector_count(v->counters, COUNTER_VISITS_OVER);
		finish_gone(c, INT64_MAX);
	} else {
		redirector_count(v->counters, COUNTER_VISITS);
		renew_counted(c);
		finish_counted(c, NULL);
	}
}

static void on_count_read(void *arg, uint64_t used, const struct error *err)
{
	struct counted_visit *c = arg;

	link_source_ended(c->owner->source, err);
	if (!err && used >= c->link->max_visits)
		finish_gone(c, INT64_MAX);
	else
		finish_counted(c, err);
}

static int ask_count(struct counted_visit *c, struct error *err)
{
	const struct cached_link *link = c->link;

	if (http_method_is(c->req, "HEAD"))
		return link_read_visits_async(c->owner->redis, &c->target,
					      link->link_id, on_count_read, c,
					      err);
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
	c->asked = known_links_mark(v->known);
	c->link = cached_link_copy(link);
	if (!c->link)
		error_set_nomem(err);
	else if (!linkstore_locate(v->redirector->store, code.data, code.len,
				   &c->target))
		error_set(err, ERROR_INPUT, "this is no code of a link");
	else if (ask_count(c, err) == 0) {
		link_source_begun(v->source);
		return 0;
	}
	redirector_count(v->counters, COUNTER_VISITS_FAILED);
	free(c->link);
	free(c);
	return -1;
}
