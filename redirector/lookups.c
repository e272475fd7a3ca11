#include "redirector/lookups.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "redirector/answer.h"
#include "redirector/click_event.h"

#define BUCKETS 1024 /* a power of two */

struct waiter {
	struct waiter *next;
	struct http_request *req;
	int64_t since; /* monotonic ns */
};

/* A code that has been asked for. */
struct pending {
	struct pending *next; /* in its bucket */
	struct lookups *owner;
	struct waiter *first, **last;
	int64_t asked; /* monotonic ms */
	struct link_target target;
};

struct renewal {
	struct lookups *owner;
	uint64_t link_id;
};

struct lookups {
	struct lookups_options o;
	lookup_done_fn *fn;
	void *arg;
	struct buf event, lines; /* of the link being described */
	struct pending *buckets[BUCKETS];
};

struct lookups *lookups_new(const struct lookups_options *options,
			    lookup_done_fn *fn, void *arg, struct error *err)
{
	struct lookups *l = calloc(1, sizeof(*l));

	if (!l) {
		error_set_nomem(err);
		return NULL;
	}
	l->o = *options;
	l->fn = fn;
	l->arg = arg;
	return l;
}

void lookups_free(struct lookups *l)
{
	if (!l)
		return;
	buf_free(&l->event);
	buf_free(&l->lines);
	free(l);
}

/* Ids are spread by the code's permutation, unknown to visitors. */
static struct pending **find(struct lookups *l, const struct link_target *t)
{
	uint64_t hash = t->id * UINT64_C(0x9e3779b97f4a7c15);
	struct pending **at = &l->buckets[(hash >> 32) & (BUCKETS - 1)];

	while (*at && strcmp((*at)->target.code, t->code) != 0)
		at = &(*at)->next;
	return at;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* `from` + `ms`, where `ms` may be for ever. */
static int64_t later(int64_t from, int64_t ms)
{
	return ms == DURATION_NEVER ? INT64_MAX : from + ms;
}

static int status_of(const Shortloop__Link *link)
{
	switch (link->redirect_status) {
	case 301:
	case 307:
	case 308:
		return (int)link->redirect_status;
	default:
		return 302;
	}
}

/* How long after a renewal the link comes due again; INT64_MAX: never. */
static int64_t renew_interval(const struct lookups *l,
			      const Shortloop__Link *link)
{
	int64_t below = linkstore_renew_below(l->o.store, link->ttl_ms);

	return below ? (int64_t)link->ttl_ms - below : INT64_MAX;
}

/* When a visit should ask again so that the link is renewed: as soon as it is
 * due, or, being renewed now, as soon as it can be due again. */
static int64_t next_renewal(const struct lookups *l, const struct pending *p,
			    const struct link_answer *answer)
{
	int64_t interval = renew_interval(l, answer->link);
	int64_t below = (int64_t)answer->link->ttl_ms - interval;

	if (interval == INT64_MAX || answer->ttl_left == DURATION_NEVER ||
	    answer->outcome != LINK_OUTCOME_REDIRECT)
		return INT64_MAX;
	if (answer->renew)
		return p->asked + interval;
	return p->asked + answer->ttl_left - below + 1;
}

/* How long the answer holds.  Life is counted from before the question, so that
 * no entry outlives its link. */
static void set_times(const struct lookups *l, const struct pending *p,
		      const struct link_answer *answer, struct cached_link *out)
{
	if (answer->outcome == LINK_OUTCOME_UNKNOWN ||
	    answer->outcome == LINK_OUTCOME_GONE || !answer->link) {
		out->fresh_until = p->asked + l->o.negative_ttl;
		out->stale_until = out->fresh_until;
		out->expires = out->fresh_until;
		return;
	}
	out->expires = later(p->asked, answer->ttl_left);
	out->stale_until = least(p->asked + l->o.stale, out->expires);
	out->fresh_until = least(p->asked + l->o.ttl, out->expires);
	out->fresh_until = least(out->fresh_until, next_renewal(l, p, answer));
}

static int describe(struct lookups *l, const struct pending *p,
		    const struct link_answer *answer, struct cached_link *out,
		    struct error *err)
{
	const Shortloop__Link *link = answer->link;
	struct http_slice code = {p->target.code, strlen(p->target.code)};
	bool redirects = link && answer->outcome == LINK_OUTCOME_REDIRECT;

	buf_reset(&l->event);
	if (link)
		click_link_part(&l->event, code, link->link_id, link->owner,
				link->campaign, link->tags, link->n_tags);
	else
		click_link_part(&l->event, code, 0, NULL, NULL, NULL, 0);
	if (l->event.failed)
		return error_set_nomem(err);
	*out = (struct cached_link){
		.outcome = answer->outcome,
		.status = redirects ? status_of(link) : 0,
		.domain = link && link->domain ? link->domain : "",
		.event = {l->event.data, l->event.len},
	};
	set_times(l, p, answer, out);
	if (!redirects)
		return 0;
	buf_reset(&l->lines);
	if (answer_lines(&l->lines, out->status, link->url, err) < 0)
		return error_wrap(err, "link %s", p->target.code);
	out->lines = (struct http_slice){l->lines.data, l->lines.len};
	return 0;
}

static void on_renewed(void *arg, int64_t left, const struct error *err)
{
	struct renewal *r = arg;
	struct lookups *l = r->owner;

	(void)left;
	count(l->o.counts, err ? COUNT_RENEWALS_FAILED : COUNT_RENEWALS);
	if (err)
		renew_gate_forget(l->o.gate, r->link_id);
	free(r);
}

static void renew(struct lookups *l, const struct pending *p,
		  const Shortloop__Link *link)
{
	struct error ignored;
	struct renewal *r;

	if (!renew_gate_pass(l->o.gate, link->link_id, loop_now_ms(l->o.loop),
			     renew_interval(l, link)))
		return;
	r = malloc(sizeof(*r));
	if (r) {
		*r = (struct renewal){l, link->link_id};
		if (link_renew_async(l->o.redis, &p->target, link, on_renewed,
				     r, &ignored) == 0)
			return;
	}
	free(r);
	count(l->o.counts, COUNT_RENEWALS_FAILED);
	renew_gate_forget(l->o.gate, link->link_id);
}

static void tell_waiters(struct lookups *l, struct pending *p,
			 const struct cached_link *link,
			 const struct error *err)
{
	struct http_slice code = {p->target.code, strlen(p->target.code)};
	int64_t now = clock_monotonic_ns();
	struct waiter *next;

	for (struct waiter *w = p->first; w; w = next) {
		next = w->next;
		l->fn(l->arg, w->req, code, link, err);
		metric_observe(l->o.counts->shared->miss_seconds,
			       (double)(now - w->since) / 1e9);
		free(w);
	}
	free(p);
}

static void on_answer(void *arg, const struct link_answer *answer,
		      const struct error *err)
{
	struct pending *p = arg;
	struct lookups *l = p->owner;
	struct http_slice code = {p->target.code, strlen(p->target.code)};
	struct cached_link link;
	struct error damaged;

	*find(l, &p->target) = p->next;
	if (!err && describe(l, p, answer, &link, &damaged) < 0)
		err = &damaged;
	if (err) {
		count(l->o.counts, COUNT_LOOKUPS_FAILED);
		tell_waiters(l, p, NULL, err);
		return;
	}
	count(l->o.counts, COUNT_LOOKUPS);
	link_cache_put(l->o.cache, code, &link);
	if (answer->renew)
		renew(l, p, answer->link);
	tell_waiters(l, p, &link, NULL);
}

static struct pending *ask(struct lookups *l, const struct link_target *target,
			   struct error *err)
{
	struct pending *p = malloc(sizeof(*p));

	if (!p) {
		error_set_nomem(err);
		return NULL;
	}
	*p = (struct pending){
		.owner = l, .asked = loop_now_ms(l->o.loop), .target = *target};
	p->last = &p->first;
	if (link_lookup_async(l->o.redis, &p->target, on_answer, p, err) < 0) {
		free(p);
		return NULL;
	}
	return p;
}

int lookups_start(struct lookups *l, const struct link_target *target,
		  struct http_request *req, struct error *err)
{
	struct pending **at = find(l, target);
	struct waiter *w = malloc(sizeof(*w));

	if (!w)
		return error_set_nomem(err);
	if (!*at)
		*at = ask(l, target, err);
	if (!*at) {
		free(w);
		return -1;
	}
	*w = (struct waiter){NULL, req, clock_monotonic_ns()};
	*(*at)->last = w;
	(*at)->last = &w->next;
	return 0;
}
