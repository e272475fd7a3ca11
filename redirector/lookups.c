#include "redirector/lookups.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "linkstore/block/renew.h"

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
	struct describer describer;
	unsigned char key[crypto_shorthash_KEYBYTES];
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
	l->describer.store = options->store;
	l->describer.times = options->times;
	crypto_shorthash_keygen(l->key);
	l->fn = fn;
	l->arg = arg;
	return l;
}

void lookups_free(struct lookups *l)
{
	if (!l)
		return;
	describer_release(&l->describer);
	free(l);
}

/* Visitors choose the codes, so the hash is keyed. */
static struct pending **find(struct lookups *l, const struct link_target *t)
{
	unsigned char hash[crypto_shorthash_BYTES];
	struct pending **at;
	uint32_t low;

	crypto_shorthash(hash, (const unsigned char *)t->code, strlen(t->code),
			 l->key);
	memcpy(&low, hash, sizeof(low));
	at = &l->buckets[low & (BUCKETS - 1)];

	while (*at && strcmp((*at)->target.code, t->code) != 0)
		at = &(*at)->next;
	return at;
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

static void renew(struct lookups *l, const struct link_target *target,
		  const Shortloop__Link *link)
{
	struct error ignored;
	struct renewal *r;

	if (!renew_gate_pass(l->o.gate, link->link_id, loop_now_ms(l->o.loop),
			     renew_interval(l->o.store, link)))
		return;
	r = malloc(sizeof(*r));
	if (r) {
		*r = (struct renewal){l, link->link_id};
		if (link_renew_async(l->o.redis, target, link, on_renewed, r,
				     &ignored) == 0)
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
	if (!err && describe_link(&l->describer, &p->target, answer, p->asked,
				  loop_now_ms(l->o.loop), &link, &damaged) < 0)
		err = &damaged;
	if (err) {
		count(l->o.counts, COUNT_LOOKUPS_FAILED);
		tell_waiters(l, p, NULL, err);
		return;
	}
	count(l->o.counts, COUNT_LOOKUPS);
	link_cache_put(l->o.cache, code, &link);
	/* What may not be visited yet, or no more, is not kept alive by
	 * trying. */
	if (answer->renew && link.outcome == LINK_OUTCOME_REDIRECT &&
	    !link.max_visits)
		renew(l, &p->target, answer->link);
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

/* --- renewing by itself ----------------------------------------------------
 */

struct check {
	struct lookups *owner;
	struct link_target target;
};

static void on_check(void *arg, const struct link_answer *answer,
		     const struct error *err)
{
	struct check *c = arg;

	if (!err && answer->renew)
		renew(c->owner, &c->target, answer->link);
	free(c);
}

void lookups_renew(struct lookups *l, const struct link_target *target)
{
	struct check *c = malloc(sizeof(*c));
	struct error ignored;

	if (c) {
		*c = (struct check){l, *target};
		if (link_lookup_async(l->o.redis, &c->target, on_check, c,
				      &ignored) == 0)
			return;
	}
	free(c);
	count(l->o.counts, COUNT_RENEWALS_FAILED);
}
