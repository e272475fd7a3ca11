#include "redirector/visit/visits.h"

#include <stdlib.h>
#include <string.h>

#include "codespace/path_code.h"
#include "common/clock.h"
#include "common/hash.h"
#include "linkstore/denied_hosts_follower.h"
#include "linkstore/space/space_monitor.h"
#include "redirector/counters/counters_report.h"
#include "redirector/lookup/link_source.h"
#include "redirector/renewals/renewals_report.h"
#include "redirector/visit/admission.h"
#include "redirector/visit/cache_entry.h"
#include "redirector/visit/counted_visits.h"
#include "redirector/visit/denied_links.h"
#include "redirector/visit/host_table.h"
#include "redirector/visit/known_links.h"
#include "redirector/visit/rate_table.h"
#include "redirector/visit/renewer.h"
#include "redirector/visit/request_info.h"
#include "redirector/visit/responder.h"

/*
 * The path of a request through this file; each end of it is a response:
 *
 *	on_request --> a code, fresh in the cache --> respond_with_link
 *	    |               |
 *	    v               v   not there, or no longer fresh
 *	403 to 405, 429 look_up --> no valid code: 404
 *	                    |   --> too many that have no link: 429
 *	                    |
 *	                    v   Redis answers, for all that wait for the code
 *	                on_found --> respond_with_link
 *	                    |
 *	                    v   Redis cannot be queried, failed, or is late
 *	                respond_without_redis --> the stale link, or 503
 *
 *	respond_with_link --> unlimited visits: the response
 *	    |
 *	    v   limited visits
 *	counted_visits_begin --> the response, 410, 429 or 503
 */

#define LOOKUP_BUCKETS 1024 /* a power of two */

struct waiter {
	struct waiter *next;
	struct http_request *req;
	int64_t since; /* monotonic ns */
};

/* A look-up of a code, and the requests that wait for its answer. */
struct visit_lookup {
	struct visit_lookup *next; /* in its bucket */
	struct visits *owner;
	struct waiter *first, **last;
	uint64_t network; /* network that paid for it; see admission.h */
	struct link_target target;
};

/* The table never has more look-ups than the listener has connections. */
struct lookup_table {
	struct hash_key hash_key;
	struct visit_lookup *buckets[LOOKUP_BUCKETS];
};

/* One per server, on its thread. */
struct visits {
	struct loop *loop;
	struct redirector *redirector;
	const struct linkstore *store;
	struct known_links *known;
	struct link_source *source;
	struct renewer renewer;
	struct responder *responder;
	struct counted_visits counted;
	struct denied_links denied;
	struct admission *admission;
	struct host_user hosts;
	struct redirector_counters counters;
	struct hour_writer *hours;
	struct loop_timer *report_timer; /* ends a turn when a report is due */
	struct cache_entry_builder builder;
	struct lookup_table lookups;
};

static void on_changed(void *arg, struct http_slice code)
{
	struct visits *v = arg;

	link_source_note_change(v->source, code);
}

static void respond_with_link(struct visits *v, struct http_request *req,
			      struct http_slice code, struct cached_link *link)
{
	struct error err;

	denied_links_evaluate(&v->denied, link);
	if (responder_send_link(v->responder, req, code, link,
				loop_now_ms(v->loop)))
		return;
	if (!link_source_permits(v->source)) {
		responder_send_unavailable(v->responder, req,
					   COUNTER_UNAVAILABLE_BREAKER);
		return;
	}
	if (counted_visits_begin(&v->counted, req, code, link, &err) == 0)
		return;
	redirector_log_lookup_failure(v->redirector, &err);
	responder_send_unavailable(v->responder, req, COUNTER_UNAVAILABLE);
}

/* Called when Redis gave no answer.  `why` is the counter of the 503 if nothing
 * can stand in. */
static void respond_without_redis(struct visits *v, struct http_request *req,
				  struct http_slice code,
				  enum redirector_counter why)
{
	struct cached_link *link = known_links_find(v->known, code);

	if (known_links_may_stand_in(v->known, link)) {
		redirector_count(&v->counters, COUNTER_STALE);
		respond_with_link(v, req, code, link);
		return;
	}
	responder_send_unavailable(v->responder, req, why);
}

/* --- look-ups --------------------------------------------------------------
 *
 * Requests for a code that is being looked up wait for the same answer.  The
 * answer goes into the cache, and a link that is due is renewed. */

/* The hash is keyed, since visitors choose the codes. */
static struct visit_lookup **find_lookup(struct lookup_table *table,
					 const struct link_target *t)
{
	uint64_t hash = hash_bytes(&table->hash_key, t->code, strlen(t->code));
	struct visit_lookup **at = &table->buckets[hash & (LOOKUP_BUCKETS - 1)];

	while (*at && strcmp((*at)->target.code, t->code) != 0)
		at = &(*at)->next;
	return at;
}

/* Answers all requests that wait with `link`; NULL: Redis gave no usable
 * answer, and `err` is the reason.  Frees the look-up. */
static void finish_lookup(struct visit_lookup *l, struct cached_link *link,
			  enum redirector_counter why, const struct error *err)
{
	struct visits *v = l->owner;
	struct http_slice code = link_target_code(&l->target);
	int64_t now = clock_monotonic_ns();
	struct waiter *next;

	for (struct waiter *w = l->first; w; w = next) {
		next = w->next;
		if (link) {
			respond_with_link(v, w->req, code, link);
		} else {
			redirector_log_lookup_failure(v->redirector, err);
			respond_without_redis(v, w->req, code, why);
		}
		metric_observe(v->redirector->metrics.miss_seconds,
			       (double)(now - w->since) / 1e9);
		free(w);
	}
	free(l);
}

/* *ret_link points into the builder and the answer. */
static int use_answer(struct visit_lookup *l, const struct link_found *found,
		      struct cached_link *ret_link, struct error *err)
{
	struct visits *v = l->owner;
	const struct link_answer *answer = found->answer;
	int64_t stale_until;

	if (cache_entry_build(&v->builder, &l->target, answer, found->sent,
			      loop_now_ms(v->loop), ret_link, err) < 0)
		return -1;
	ret_link->asked = found->asked;
	/* The answer may be a replica's, and older than the query. */
	stale_until = found->asked.at + v->builder.times.stale;
	if (ret_link->stale_until > stale_until)
		ret_link->stale_until = stale_until;
	denied_links_evaluate(&v->denied, ret_link);
	known_links_put(v->known, link_target_code(&l->target), ret_link);
	/* Visits do not keep a link alive that may not be visited yet, or no
	 * more. */
	if (answer->renew && ret_link->outcome == LINK_OUTCOME_REDIRECT &&
	    !ret_link->max_visits)
		renewer_renew(&v->renewer, &l->target, answer->link);
	return 0;
}

static void on_found(void *arg, const struct link_found *found,
		     enum redirector_counter why, const struct error *err)
{
	struct visit_lookup *l = arg;
	struct visits *v = l->owner;
	struct cached_link link;
	struct error failed;

	*find_lookup(&v->lookups, &l->target) = l->next;
	if (found && use_answer(l, found, &link, &failed) < 0) {
		found = NULL;
		err = &failed;
	}
	/* Only a code without a link costs a token. */
	if (!found || found->answer->link)
		admission_return_unknown(v->admission, l->network);
	redirector_count(&v->counters,
			 found ? COUNTER_LOOKUPS : COUNTER_LOOKUPS_FAILED);
	finish_lookup(l, found ? &link : NULL, why, err);
}

/* `stand_in` permits the answer of a replica if the master cannot be
 * queried. */
static struct visit_lookup *start_lookup(struct visits *v,
					 const struct link_target *target,
					 uint64_t network, bool stand_in,
					 enum redirector_counter *ret_why)
{
	struct visit_lookup *l = malloc(sizeof(*l));
	struct error err;

	*ret_why = COUNTER_UNAVAILABLE;
	if (!l)
		return NULL;
	*l = (struct visit_lookup){
		.owner = v, .network = network, .target = *target};
	l->last = &l->first;
	if (link_source_ask(v->source, target, stand_in, on_found, l, ret_why,
			    &err) == 0)
		return l;
	free(l);
	return NULL;
}

/* Returns false when out of memory. */
static bool wait_for_lookup(struct visit_lookup *l, struct http_request *req)
{
	struct waiter *w = malloc(sizeof(*w));

	if (!w)
		return false;
	*w = (struct waiter){NULL, req, clock_monotonic_ns()};
	*l->last = w;
	l->last = &w->next;
	return true;
}

/* Takes a token for a code.  A link that was there a while ago was not guessed,
 * and costs nothing.  `stale` is the cache's entry for the code, or NULL.
 * Returns false if the client has no token; then the request was answered. */
static bool take_token_for_code(struct visits *v, struct http_request *req,
				const struct cached_link *stale,
				uint64_t *ret_network)
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

/* A request that joins a look-up under way pays nothing. */
static void join_or_start_lookup(struct visits *v, struct http_request *req,
				 struct http_slice code,
				 const struct link_target *target,
				 const struct cached_link *stale)
{
	struct visit_lookup **at = find_lookup(&v->lookups, target);
	enum redirector_counter why = COUNTER_UNAVAILABLE;
	uint64_t network;

	if (!*at) {
		if (!take_token_for_code(v, req, stale, &network))
			return;
		*at = start_lookup(v, target, network,
				   !known_links_may_stand_in(v->known, stale),
				   &why);
		if (!*at)
			admission_return_unknown(v->admission, network);
	}
	if (!*at || !wait_for_lookup(*at, req))
		respond_without_redis(v, req, code, why);
}

/* Refuses a code that no link can have; its token is not returned. */
static void refuse_code(struct visits *v, struct http_request *req,
			struct http_slice code, const struct cached_link *stale)
{
	uint64_t network;

	if (!take_token_for_code(v, req, stale, &network))
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
		join_or_start_lookup(v, req, code, &target, stale);
	else if (!ready || linkstore_lacks_key(v->store, code.data, code.len))
		respond_without_redis(v, req, code, COUNTER_UNAVAILABLE);
	else
		refuse_code(v, req, code, stale);
}

/* --- requests ------------------------------------------------------------- */

/* Returns false if the request was answered. */
static bool admit_request(struct visits *v, struct http_request *req)
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

/* Handles a path that is not a plain code: a path of the server's own, or a
 * code with text around it, as visitors copy it.  Returns false if the request
 * was answered. */
static bool find_code_in_text(struct visits *v, struct http_request *req,
			      struct path_text_code *ret_code)
{
	bool trims = v->redirector->config->redirector.trim_paths;

	if (responder_send_own_path(v->responder, req))
		return false;
	if (path_code_in_text(http_path(req), trims, ret_code))
		return true;
	responder_send_no_code(v->responder, req);
	return false;
}

static void on_request(struct http_request *req, void *arg)
{
	struct visits *v = arg;
	const struct virtual_hosts *hosts = host_table_use(&v->hosts);
	struct cached_link *link;
	struct path_text_code text;
	struct http_slice code;

	responder_use_hosts(v->responder, hosts);
	if (!admit_request(v, req))
		return;
	if (!http_method_is(req, "GET") && !http_method_is(req, "HEAD")) {
		responder_send_no_method(v->responder, req);
		return;
	}
	if (virtual_hosts_refuse_some(hosts) &&
	    virtual_hosts_refuse(hosts, http_host(req))) {
		responder_send_refused_host(v->responder, req);
		return;
	}
	if (responder_send_app_file(v->responder, req))
		return;
	code = request_info_code(http_path(req));
	if (!code.data) {
		if (!find_code_in_text(v, req, &text))
			return;
		code = text.code;
	}
	link = known_links_find(v->known, code);
	if (!link || !known_links_is_fresh(v->known, link)) {
		look_up(v, req, code, link);
		return;
	}
	redirector_count(&v->counters, COUNTER_HITS);
	respond_with_link(v, req, code, link);
}

static void on_redis_lost(void *state)
{
	struct visits *v = state;

	known_links_distrust(v->known);
}

static void on_connected(void *state, enum lookup_server to)
{
	struct visits *v = state;

	link_source_connected(v->source, to);
}

static void on_turn_end(void *state)
{
	struct visits *v = state;

	redirector_count_many(&v->counters, COUNTER_FORGOTTEN,
			      admission_forgotten(v->admission));
	responder_end_turn(v->responder);
	hour_writer_flush(v->hours, loop_real_ms(v->loop));
	known_links_report(v->known);
}

/* --- making --------------------------------------------------------------- */

/* The end of this turn confirms that all before it was counted. */
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
	loop_timer_free(v->report_timer);
	renewals_writer_free(v->renewer.writer);
	counted_visits_release(&v->counted);
	cache_entry_builder_release(&v->builder);
	link_source_free(v->source);
	known_links_free(v->known);
	admission_free(v->admission);
	responder_free(v->responder);
	host_table_leave(&v->hosts);
	denied_links_leave(&v->denied);
	redirector_counters_close(&v->counters);
	free(v);
}

static int make_parts(struct visits *v, const struct server_context *server,
		      struct error *err)
{
	struct redirector *r = server->redirector;

	if (!hash_key_make(&v->lookups.hash_key, err))
		v->known = known_links_new(server, on_changed, v, err);
	v->source = v->known ? link_source_new(server,
					       known_links_changes(v->known),
					       &v->counters, err)
			     : NULL;
	v->responder = v->source ? responder_new(r, server->number, v->loop,
						 &v->counters, err)
				 : NULL;
	v->admission = v->responder ? admission_new(r, err) : NULL;
	return v->admission ? start_report_timer(v, err) : -1;
}

static int make_renewer(struct visits *v, const struct server_context *server,
			struct error *err)
{
	struct renewals_report *report = server->redirector->renewals_report;

	v->renewer = (struct renewer){
		.redirector = server->redirector,
		.loop = v->loop,
		.redis = server->redis,
		.counters = &v->counters,
	};
	if (!report)
		return 0;
	v->renewer.writer = renewals_writer_new(report, v->loop, err);
	return v->renewer.writer ? 0 : -1;
}

static void *visits_new(const struct server_context *server, struct error *err)
{
	struct redirector *r = server->redirector;
	const struct redirector_settings *s = &r->config->redirector;
	struct visits *v = calloc(1, sizeof(*v));

	if (!v) {
		error_set_nomem(err);
		return NULL;
	}
	v->loop = server->loop;
	v->redirector = r;
	v->store = r->store;
	v->hosts.table = r->hosts_in_use;
	v->denied.hosts.of = denied_hosts_follower_versions(r->denied_hosts);
	v->hours = &r->hours[server->number];
	v->builder.store = r->store;
	v->builder.times = (struct cache_entry_times){
		s->cache_ttl, s->cache_negative_ttl, s->cache_stale};
	if (redirector_counters_open(&v->counters, r->registry, &r->metrics,
				     err) < 0 ||
	    make_parts(v, server, err) < 0 ||
	    make_renewer(v, server, err) < 0) {
		visits_free(v);
		return NULL;
	}
	v->counted = (struct counted_visits){
		.redirector = r,
		.loop = v->loop,
		.redis = server->redis,
		.known = v->known,
		.denied = &v->denied,
		.source = v->source,
		.renewer = &v->renewer,
		.responder = v->responder,
		.counters = &v->counters,
		.robots = {.of = r->files[FILE_ROBOTS]},
	};
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
