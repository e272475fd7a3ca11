#include "redirector/visits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/hash.h"
#include "linkstore/block/renew.h"
#include "linkstore/link/visits.h"
#include "linkstore/space/space_monitor.h"
#include "redirector/admission.h"
#include "redirector/cache_entry.h"
#include "redirector/counters_report.h"
#include "redirector/freshness.h"
#include "redirector/host_table.h"
#include "redirector/link_cache.h"
#include "redirector/link_source.h"
#include "redirector/rate_table.h"
#include "redirector/renew_throttle.h"
#include "redirector/request_info.h"
#include "redirector/responder.h"

/*
 * The way of a request; each of its ends is a response:
 *
 *	on_request --> a code, fresh in the cache --> respond
 *	    |               |
 *	    v               v   not there, or no longer fresh
 *	403 to 405, 429 look_up --> no code of ours: 404
 *	                    |   --> too many that have no link: 429
 *	                    |
 *	                    v   Redis answers, for all that wait for the code
 *	                on_found --> respond
 *	                    |
 *	                    v   Redis cannot be asked, failed, or is late
 *	                respond_without_redis --> the stale link, or 503
 *
 *	respond --> any number of visits: the response
 *	    |
 *	    v   only so many
 *	count_visit --> on_counted --> the response, 410 or 503
 */

#define LOOKUP_BUCKETS 1024 /* a power of two */

struct waiter {
	struct waiter *next;
	struct http_request *req;
	int64_t since; /* monotonic ns */
};

/* A code that Redis was asked for, and the requests that wait for the answer.
 */
struct lookup {
	struct lookup *next; /* in its bucket */
	struct visits *owner;
	struct waiter *first, **last;
	uint64_t network; /* that has paid for it; admission.h */
	struct link_target target;
};

/* At most as many at once as the listener has connections. */
struct lookup_table {
	struct hash_key hash_key;
	struct lookup *buckets[LOOKUP_BUCKETS];
};

/* A renewal that Redis was sent. */
struct renewal {
	struct visits *owner;
	uint64_t link_id;
};

/* A question whether a link is due to be renewed. */
struct renewal_check {
	struct visits *owner;
	struct link_target target;
};

/* A visit that is being counted in Redis. */
struct counted_visit {
	struct visits *owner;
	struct http_request *req;
	struct cached_link *link; /* a copy: the cache may let go of it */
	struct freshness_mark asked;
	struct link_target target;
};

struct cache_gauges {
	struct metric *entries, *bytes, *evictions;
	uint64_t evictions_reported;
};

/* One per server, on its thread. */
struct visits {
	struct loop *loop;
	struct redis_async *redis;
	const struct redirector *redirector;
	const struct linkstore *store;
	struct link_cache *cache;
	struct freshness_reader *changes;
	struct link_source *source;
	struct cache_gauges gauges;
	struct responder *responder;
	struct admission *admission;
	struct host_user hosts;
	struct redirector_counters counters;
	struct hour_writer *hours;
	struct loop_timer *report_timer; /* ends a turn when a report is due */
	struct cache_entry_builder builder;
	struct lookup_table lookups;
	int64_t log_after; /* no more lines of failed look-ups before (ms) */
};

static void respond(struct visits *v, struct http_request *req,
		    struct http_slice code, const struct cached_link *link);

/* One line a second at most: visits come by the thousand. */
static void log_failure(struct visits *v, const struct error *err)
{
	int64_t now = loop_now_ms(v->loop);

	if (now < v->log_after)
		return;
	v->log_after = now + CLOCK_SECOND;
	log_warn(v->redirector->log, "a link could not be looked up",
		 log_err(err));
}

/* --- what the cache has ----------------------------------------------------
 */

static void on_changed(void *arg, struct http_slice code)
{
	struct visits *v = arg;

	link_cache_remove(v->cache, code);
	link_source_note_change(v->source, code);
}

/* NULL: nothing, or what it has may have been changed. */
static struct cached_link *find_cached(struct visits *v, struct http_slice code)
{
	struct cached_link *link;

	freshness_sync(v->changes);
	link = link_cache_get(v->cache, code, loop_now_ms(v->loop));
	return link && !freshness_is_void(v->changes, &link->asked) ? link
								    : NULL;
}

static bool is_fresh(const struct visits *v, const struct cached_link *link)
{
	int64_t now = loop_now_ms(v->loop);

	return now < link->fresh_until &&
	       freshness_is_fresh(v->changes, &link->asked, now);
}

/* A link that was there and has not expired still is, as far as anybody knows,
 * unless its visits would have to be counted. */
static bool may_stand_in(const struct visits *v, const struct cached_link *link)
{
	return link && !link->max_visits &&
	       loop_now_ms(v->loop) < link->stale_until;
}

/* Redis did not tell.  `why` is how it counts that nothing stands in. */
static void respond_without_redis(struct visits *v, struct http_request *req,
				  struct http_slice code,
				  enum redirector_counter why)
{
	const struct cached_link *link = find_cached(v, code);

	if (may_stand_in(v, link)) {
		redirector_count(&v->counters, COUNTER_STALE);
		respond(v, req, code, link);
		return;
	}
	responder_send_unavailable(v->responder, req, why);
}

/* --- renewing --------------------------------------------------------------
 */

static void renewal_failed(struct visits *v, uint64_t link_id)
{
	redirector_count(&v->counters, COUNTER_RENEWALS_FAILED);
	renew_throttle_reset(v->redirector->renewals, link_id);
}

static void on_renewed(void *arg, int64_t left, const struct error *err)
{
	struct renewal *r = arg;

	(void)left;
	if (err)
		renewal_failed(r->owner, r->link_id);
	else
		redirector_count(&r->owner->counters, COUNTER_RENEWALS);
	free(r);
}

static void renew(struct visits *v, const struct link_target *target,
		  const Shortloop__Link *link)
{
	struct error ignored;
	struct renewal *r;

	if (!renew_throttle_admit(v->redirector->renewals, link->link_id,
				  loop_now_ms(v->loop),
				  cache_entry_renew_interval(v->store, link)))
		return;
	r = malloc(sizeof(*r));
	if (r) {
		*r = (struct renewal){v, link->link_id};
		if (link_renew_async(v->redis, target, link, on_renewed, r,
				     &ignored) == 0)
			return;
	}
	free(r);
	renewal_failed(v, link->link_id);
}

static void on_renewal_checked(void *arg, const struct link_answer *answer,
			       const struct error *err)
{
	struct renewal_check *c = arg;

	if (!err && answer->renew)
		renew(c->owner, &c->target, answer->link);
	free(c);
}

/* Renews the link, if Redis finds that it is due. */
static void check_renewal(struct visits *v, const struct link_target *target)
{
	struct renewal_check *c = malloc(sizeof(*c));
	struct error ignored;

	if (c) {
		*c = (struct renewal_check){v, *target};
		if (link_lookup_async(v->redis, &c->target, on_renewal_checked,
				      c, &ignored) == 0)
			return;
	}
	free(c);
	redirector_count(&v->counters, COUNTER_RENEWALS_FAILED);
}

/* --- counting --------------------------------------------------------------
 *
 * Every visit of a link that may be visited only so many times is counted in
 * Redis before it is answered; no cache helps, and while Redis cannot be asked
 * there is no visit.  A HEAD is not counted, but told from the count.  Once a
 * link has had its visits, the cache says gone for as long as the entry is
 * fresh.
 *
 * Such a link is renewed by visits that were allowed, and by no others: else
 * those that come too late would keep it, and its block, for ever.
 */

static struct http_slice code_of(const struct link_target *target)
{
	return (struct http_slice){target->code, strlen(target->code)};
}

/* The entry of the very link as it was, if it is still there. */
static struct cached_link *entry_of(const struct counted_visit *c)
{
	struct cached_link *entry = find_cached(c->owner, code_of(&c->target));

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
	check_renewal(c->owner, &c->target);
}

/* Where the link led when the visit came need not be where it leads now; the
 * visit is used up all the same. */
static bool leads_elsewhere(const struct counted_visit *c)
{
	const struct visits *v = c->owner;

	freshness_sync(v->changes);
	return c->link->outcome == LINK_OUTCOME_REDIRECT &&
	       freshness_changed_since(v->changes, code_of(&c->target),
				       &c->asked);
}

static void finish_counted(struct counted_visit *c, const struct error *err)
{
	struct visits *v = c->owner;

	if (err || leads_elsewhere(c)) {
		if (err)
			log_failure(v, err);
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
	struct visits *v = c->owner;

	(void)used;
	link_source_ended(v->source, err);
	if (err && err->code == ERROR_NOTFOUND) {
		redirector_count(&v->counters, COUNTER_VISITS_OVER);
		finish_gone(c, loop_now_ms(v->loop) +
				       v->builder.times.negative_ttl);
	} else if (err) {
		redirector_count(&v->counters, COUNTER_VISITS_FAILED);
		finish_counted(c, err);
	} else if (!allowed) {
		redirector_count(&v->counters, COUNTER_VISITS_OVER);
		finish_gone(c, INT64_MAX);
	} else {
		redirector_count(&v->counters, COUNTER_VISITS);
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

/* Copies `link`, which has max_visits.  Never answers the request before it
 * returns; on failure never at all. */
static int count_visit(struct visits *v, struct http_request *req,
		       struct http_slice code, const struct cached_link *link,
		       struct error *err)
{
	struct counted_visit *c = calloc(1, sizeof(*c));

	if (!c)
		return error_set_nomem(err);
	c->owner = v;
	c->req = req;
	c->asked = freshness_mark(v->changes, loop_now_ms(v->loop));
	c->link = cached_link_copy(link);
	if (!c->link)
		error_set_nomem(err);
	else if (!linkstore_locate(v->store, code.data, code.len, &c->target))
		error_set(err, ERROR_INPUT, "this is no code of a link");
	else if (ask_count(c, err) == 0) {
		link_source_begun(v->source);
		return 0;
	}
	redirector_count(&v->counters, COUNTER_VISITS_FAILED);
	free(c->link);
	free(c);
	return -1;
}

static void respond(struct visits *v, struct http_request *req,
		    struct http_slice code, const struct cached_link *link)
{
	struct error err;

	if (responder_send_link(v->responder, req, code, link,
				loop_now_ms(v->loop)))
		return;
	if (!link_source_permits(v->source)) {
		responder_send_unavailable(v->responder, req,
					   COUNTER_UNAVAILABLE_BREAKER);
		return;
	}
	if (count_visit(v, req, code, link, &err) == 0)
		return;
	log_failure(v, &err);
	responder_send_unavailable(v->responder, req, COUNTER_UNAVAILABLE);
}

/* --- looking up ------------------------------------------------------------
 *
 * Requests for a code that Redis is being asked for wait for the same answer.
 * What comes back goes into the cache, and a link that is due is renewed.
 */

/* Visitors choose the codes, so the hash is keyed. */
static struct lookup **find_lookup(struct lookup_table *table,
				   const struct link_target *t)
{
	uint64_t hash = hash_bytes(&table->hash_key, t->code, strlen(t->code));
	struct lookup **at = &table->buckets[hash & (LOOKUP_BUCKETS - 1)];

	while (*at && strcmp((*at)->target.code, t->code) != 0)
		at = &(*at)->next;
	return at;
}

/* Answers all that wait for `link`; NULL: Redis gave no usable answer, and err
 * says why.  Frees the look-up. */
static void finish_lookup(struct lookup *l, const struct cached_link *link,
			  enum redirector_counter why, const struct error *err)
{
	struct visits *v = l->owner;
	struct http_slice code = code_of(&l->target);
	int64_t now = clock_monotonic_ns();
	struct waiter *next;

	for (struct waiter *w = l->first; w; w = next) {
		next = w->next;
		if (link) {
			respond(v, w->req, code, link);
		} else {
			log_failure(v, err);
			respond_without_redis(v, w->req, code, why);
		}
		metric_observe(v->redirector->metrics.miss_seconds,
			       (double)(now - w->since) / 1e9);
		free(w);
	}
	free(l);
}

/* *ret_link points into the builder and the answer. */
static int use_answer(struct lookup *l, const struct link_found *found,
		      struct cached_link *ret_link, struct error *err)
{
	struct visits *v = l->owner;
	const struct link_answer *answer = found->answer;
	int64_t stale_until;

	if (cache_entry_build(&v->builder, &l->target, answer, found->sent,
			      loop_now_ms(v->loop), ret_link, err) < 0)
		return -1;
	ret_link->asked = found->asked;
	/* It may be of a replica, and from before it was asked for. */
	stale_until = found->asked.at + v->builder.times.stale;
	if (ret_link->stale_until > stale_until)
		ret_link->stale_until = stale_until;
	link_cache_put(v->cache, code_of(&l->target), ret_link);
	/* A link that may not be visited yet, or no more, is not kept alive by
	 * trying. */
	if (answer->renew && ret_link->outcome == LINK_OUTCOME_REDIRECT &&
	    !ret_link->max_visits)
		renew(v, &l->target, answer->link);
	return 0;
}

static void on_found(void *arg, const struct link_found *found,
		     enum redirector_counter why, const struct error *err)
{
	struct lookup *l = arg;
	struct visits *v = l->owner;
	struct cached_link link;
	struct error failed;

	*find_lookup(&v->lookups, &l->target) = l->next;
	if (found && use_answer(l, found, &link, &failed) < 0) {
		found = NULL;
		err = &failed;
	}
	/* Only a code without a link costs something. */
	if (!found || found->answer->link)
		admission_return_unknown(v->admission, l->network);
	redirector_count(&v->counters,
			 found ? COUNTER_LOOKUPS : COUNTER_LOOKUPS_FAILED);
	finish_lookup(l, found ? &link : NULL, why, err);
}

/* `stand_in`: that a replica has the link may do, for want of the master. */
static struct lookup *start_lookup(struct visits *v,
				   const struct link_target *target,
				   uint64_t network, bool stand_in,
				   enum redirector_counter *ret_why)
{
	struct lookup *l = malloc(sizeof(*l));
	struct error err;

	*ret_why = COUNTER_UNAVAILABLE;
	if (!l)
		return NULL;
	*l = (struct lookup){.owner = v, .network = network, .target = *target};
	l->last = &l->first;
	if (link_source_ask(v->source, target, stand_in, on_found, l, ret_why,
			    &err) == 0)
		return l;
	free(l);
	return NULL;
}

/* False: out of memory. */
static bool wait_for_lookup(struct lookup *l, struct http_request *req)
{
	struct waiter *w = malloc(sizeof(*w));

	if (!w)
		return false;
	*w = (struct waiter){NULL, req, clock_monotonic_ns()};
	*l->last = w;
	l->last = &w->next;
	return true;
}

/* A link that was there a while ago is not guessed, and costs nothing.  `stale`
 * is what the cache has of the code, or NULL.  False: the request cannot pay
 * and was answered. */
static bool pay(struct visits *v, struct http_request *req,
		const struct cached_link *stale, uint64_t *ret_network)
{
	bool known = stale && stale->outcome != LINK_OUTCOME_UNKNOWN &&
		     stale->outcome != LINK_OUTCOME_GONE;
	struct address client;
	int64_t wait;

	*ret_network = NETWORK_NONE;
	if (known)
		return true;
	client = responder_client(v->responder, req);
	if (admission_take_unknown(v->admission, &client, loop_now_ms(v->loop),
				   ret_network, &wait))
		return true;
	responder_send_limited(v->responder, req, COUNTER_OVER_UNKNOWN, wait);
	return false;
}

/* Whoever waits for an answer that another has asked for pays nothing. */
static void ask(struct visits *v, struct http_request *req,
		struct http_slice code, const struct link_target *target,
		const struct cached_link *stale)
{
	struct lookup **at = find_lookup(&v->lookups, target);
	enum redirector_counter why = COUNTER_UNAVAILABLE;
	uint64_t network;

	if (!*at) {
		if (!pay(v, req, stale, &network))
			return;
		*at = start_lookup(v, target, network, !may_stand_in(v, stale),
				   &why);
		if (!*at)
			admission_return_unknown(v->admission, network);
	}
	if (!*at || !wait_for_lookup(*at, req))
		respond_without_redis(v, req, code, why);
}

/* A code that no link can have: its token is not given back. */
static void refuse_code(struct visits *v, struct http_request *req,
			struct http_slice code, const struct cached_link *stale)
{
	uint64_t network;

	if (!pay(v, req, stale, &network))
		return;
	redirector_count(&v->counters, COUNTER_REFUSED_CODES);
	responder_send_unknown(v->responder, req, code);
}

static void look_up(struct visits *v, struct http_request *req,
		    struct http_slice code, const struct cached_link *stale)
{
	const struct link_space *space =
		linkstore_space_for(v->store, code.data, code.len);
	bool ready = !space || space_monitor_state(v->redirector->spaces,
						   space) == SPACE_READY;
	struct link_target target;

	redirector_count(&v->counters, COUNTER_MISSES);
	if (space && ready &&
	    linkstore_locate(v->store, code.data, code.len, &target))
		ask(v, req, code, &target, stale);
	else if (!ready || linkstore_lacks_key(v->store, code.data, code.len))
		respond_without_redis(v, req, code, COUNTER_UNAVAILABLE);
	else
		refuse_code(v, req, code, stale);
}

/* -------------------------------------------------------------------------- */

/* False: it was answered. */
static bool admit(struct visits *v, struct http_request *req)
{
	struct address client;
	int64_t wait;

	if (!admission_has_rules(v->admission))
		return true;
	client = responder_client(v->responder, req);
	if (admission_denies(v->admission, &client)) {
		responder_send_denied(v->responder, req);
		return false;
	}
	if (admission_take_request(v->admission, &client, loop_now_ms(v->loop),
				   &wait))
		return true;
	responder_send_limited(v->responder, req, COUNTER_OVER_RATE, wait);
	return false;
}

static void on_request(struct http_request *req, void *arg)
{
	struct visits *v = arg;
	const struct virtual_hosts *hosts = host_table_use(&v->hosts);
	struct http_slice code;
	const struct cached_link *link;

	responder_use_hosts(v->responder, hosts);
	if (!admit(v, req))
		return;
	if (!http_method_is(req, "GET") && !http_method_is(req, "HEAD")) {
		responder_send_no_method(v->responder, req);
		return;
	}
	if (virtual_hosts_refuse_some(hosts) &&
	    virtual_hosts_refuse(hosts, http_header_get(req, "Host"))) {
		responder_send_refused_host(v->responder, req);
		return;
	}
	if (responder_send_app_file(v->responder, req))
		return;
	code = request_info_code(http_path(req));
	if (!code.data) {
		responder_send_no_code(v->responder, req);
		return;
	}
	link = find_cached(v, code);
	if (!link || !is_fresh(v, link)) {
		look_up(v, req, code, link);
		return;
	}
	redirector_count(&v->counters, COUNTER_HITS);
	respond(v, req, code, link);
}

static void on_redis_lost(void *state)
{
	struct visits *v = state;

	freshness_distrust(v->changes, loop_now_ms(v->loop));
}

static void on_connected(void *state, enum lookup_server to)
{
	struct visits *v = state;

	link_source_connected(v->source, to);
}

static void on_turn_end(void *state)
{
	struct visits *v = state;
	struct cache_gauges *g = &v->gauges;
	struct link_cache_stats stats = link_cache_stats(v->cache);

	v->counters.n[COUNTER_FORGOTTEN] += admission_forgotten(v->admission);
	responder_end_turn(v->responder);
	redirector_counters_flush(&v->counters);
	hour_writer_flush(v->hours, loop_real_ms(v->loop));
	metric_set(g->entries, (int64_t)stats.entries);
	metric_set(g->bytes, (int64_t)stats.bytes);
	if (stats.evictions != g->evictions_reported) {
		metric_add(g->evictions,
			   stats.evictions - g->evictions_reported);
		g->evictions_reported = stats.evictions;
	}
}

/* --- making ----------------------------------------------------------------
 */

static void register_gauges(struct cache_gauges *g, struct metrics *m,
			    unsigned thread, size_t cache_bytes)
{
	char labels[32];

	snprintf(labels, sizeof(labels), "thread=\"%u\"", thread);
	g->entries = metrics_gauge(m, "shortloop_redirector_cache_entries",
				   labels, "Codes in the cache");
	g->bytes = metrics_gauge(m, "shortloop_redirector_cache_bytes", labels,
				 "Memory of the cache");
	g->evictions = metrics_counter(
		m, "shortloop_redirector_cache_evictions_total", labels,
		"Codes put out of the cache for want of room");
	metric_set(metrics_gauge(m, "shortloop_redirector_cache_bytes_max",
				 labels, "Bound of the cache's memory"),
		   (int64_t)cache_bytes);
}

/* The end of the turn says that all before was counted. */
static void on_report_due(void *arg)
{
	struct visits *v = arg;
	int64_t every = v->redirector->config->redirector.counters_every;

	loop_timer_set(v->report_timer,
		       counters_report_wait(clock_real_ms(), every));
}

static int start_report_timer(struct visits *v, struct error *err)
{
	if (!v->redirector->counters)
		return 0;
	v->report_timer = loop_timer_new(v->loop, on_report_due, v, err);
	if (!v->report_timer)
		return -1;
	on_report_due(v);
	return 0;
}

static void visits_free(void *state)
{
	struct visits *v = state;

	if (!v)
		return;
	/* What was in flight at the end was answered after the last turn. */
	redirector_counters_flush(&v->counters);
	loop_timer_free(v->report_timer);
	cache_entry_builder_release(&v->builder);
	link_source_free(v->source);
	freshness_reader_free(v->changes);
	link_cache_free(v->cache);
	admission_free(v->admission);
	responder_free(v->responder);
	host_table_leave(&v->hosts);
	free(v);
}

static void *visits_new(const struct server_context *server, struct error *err)
{
	struct redirector *r = server->redirector;
	const struct redirector_settings *s = &r->config->redirector;
	size_t cache_bytes = (size_t)s->cache_size / r->threads;
	struct visits *v = calloc(1, sizeof(*v));

	if (!v) {
		error_set_nomem(err);
		return NULL;
	}
	v->loop = server->loop;
	v->redis = server->redis;
	v->redirector = r;
	v->store = r->store;
	v->hosts.table = r->hosts_in_use;
	v->counters.metrics = &r->metrics;
	v->hours = &r->hours[server->number];
	v->builder.store = r->store;
	v->builder.times = (struct cache_entry_times){
		s->cache_ttl, s->cache_negative_ttl, s->cache_stale};
	if (!hash_key_make(&v->lookups.hash_key, err))
		v->cache = link_cache_new(cache_bytes, err);
	if (v->cache)
		v->changes = freshness_reader_new(r->freshness, v->loop,
						  on_changed, v, err);
	v->source = v->changes ? link_source_new(server, v->changes,
						 &v->counters, err)
			       : NULL;
	v->responder = v->source ? responder_new(r, server->number, v->loop,
						 &v->counters, err)
				 : NULL;
	v->admission = v->responder ? admission_new(r, err) : NULL;
	if (!v->admission || start_report_timer(v, err) < 0) {
		visits_free(v);
		return NULL;
	}
	register_gauges(&v->gauges, r->registry, server->number, cache_bytes);
	return v;
}

const struct request_handler visits_handler = {
	.create = visits_new,
	.destroy = visits_free,
	.on_request = on_request,
	.on_turn_end = on_turn_end,
	.on_redis_lost = on_redis_lost,
	.on_connected = on_connected,
};
