#include "redirector/lookup/link_source.h"

#include <sodium.h>
#include <stdlib.h>

#include "redirector/lookup/deadlines.h"
#include "redirector/lookup/link_cache.h"
#include "redirector/lookup/recent_changes.h"
#include "redirector/lookup/replica.h"

/* Tries for a link that changes during its look-up. */
#define TRIES 4

struct attempt;

/* A link that is looked up.  A query for it is under way (`attempt`), or it
 * waits for its turn at the master. */
struct link_query {
	struct link_query *prev, *next; /* while it waits */
	struct link_source *source;
	struct attempt *attempt; /* NULL: it waits */
	link_found_fn *fn;
	void *arg;
	struct deadline late, patience; /* `patience` is for a replica */
	unsigned tries;
	bool may_stand_in; /* a replica's link, if nothing else */
	bool fell_back;	   /* the master failed, then a replica was tried */
	struct link_target target;
};

/* A query that was sent to a server. */
struct attempt {
	struct link_source *source;
	struct link_query
		*question; /* NULL: its result is not needed any more */
	enum lookup_server of;
	struct freshness_mark asked;
	int64_t sent;
	bool judged; /* reported to the breaker as late */
};

/* A server, and whether it may be queried. */
struct side {
	struct link_source *source;
	enum lookup_server of;
	struct breaker breaker;
	enum breaker_state told;
	struct loop_timer *timer; /* fires when an open one is half-open */
};

struct link_source {
	const struct server_context *server;
	const struct redirector_settings *settings;
	struct freshness_reader *changes;
	struct recent_changes *recent;
	struct redirector_counters *counters;
	struct side sides[LOOKUP_SERVERS];
	struct link_query *first, *last; /* waiting for the master */
	struct deadlines late, patience;
};

static int64_t now_of(const struct link_source *s)
{
	return loop_now_ms(s->server->loop);
}

/* --- breakers ------------------------------------------------------------- */

/* Reports a changed state; called after each call of the breaker. */
static void report_breaker_state(struct side *side)
{
	struct link_source *s = side->source;
	enum breaker_state state = side->breaker.state;

	if (state == side->told)
		return;
	side->told = state;
	if (state == BREAKER_OPEN)
		loop_timer_set(side->timer,
			       breaker_wait_left(&side->breaker, now_of(s)));
	lookup_health_breaker(s->server->redirector->lookups, s->server->number,
			      side->of, state);
}

static enum breaker_word may_ask(struct side *side)
{
	enum breaker_word word =
		breaker_may_ask(&side->breaker, now_of(side->source));

	report_breaker_state(side);
	return word;
}

/* The breaker leaves the open state even if there is no visit. */
static void on_wait_over(void *arg)
{
	(void)may_ask(arg);
}

static void note_query_result(struct side *side, bool well)
{
	int64_t now = now_of(side->source);

	if (well)
		breaker_succeeded(&side->breaker, now);
	else
		breaker_failed(&side->breaker, now, randombytes_random());
	report_breaker_state(side);
}

/* Only a retriable error is a failure of the server; a record that cannot be
 * read is not. */
static bool is_well(const struct error *err)
{
	return !err || !err->retriable;
}

void link_source_connected(struct link_source *s, enum lookup_server of)
{
	if (of == LOOKUP_MASTER)
		freshness_look_up_in(s->changes,
				     redis_async_run_id(s->server->redis));
	breaker_connected(&s->sides[of].breaker, now_of(s));
	report_breaker_state(&s->sides[of]);
}

/* --- questions ------------------------------------------------------------ */

static void enqueue_question(struct link_query *q)
{
	struct link_source *s = q->source;

	q->prev = s->last;
	q->next = NULL;
	*(s->last ? &s->last->next : &s->first) = q;
	s->last = q;
}

static void dequeue_question(struct link_query *q)
{
	struct link_source *s = q->source;

	*(q->prev ? &q->prev->next : &s->first) = q->next;
	*(q->next ? &q->next->prev : &s->last) = q->prev;
}

static void question_free(struct link_query *q)
{
	deadlines_remove(&q->source->late, &q->late);
	deadlines_remove(&q->source->patience, &q->patience);
	free(q);
}

static void finish_question(struct link_query *q,
			    const struct link_found *found,
			    enum redirector_counter why,
			    const struct error *err)
{
	link_found_fn *fn = q->fn;
	void *arg = q->arg;

	question_free(q);
	fn(arg, found, why, err);
}

/* --- queries -------------------------------------------------------------- */

static void on_answer(void *arg, const struct link_answer *answer,
		      const struct error *err);

static struct redis_async *redis_of(const struct link_source *s,
				    enum lookup_server of)
{
	return of == LOOKUP_MASTER ? s->server->redis
				   : replica_redis(s->server->replica);
}

static int send_to(struct link_query *q, enum lookup_server of,
		   const struct freshness_mark *asked, struct error *err)
{
	struct link_source *s = q->source;
	struct attempt *a = malloc(sizeof(*a));

	if (!a)
		return error_set_nomem(err);
	*a = (struct attempt){.source = s,
			      .question = q,
			      .of = of,
			      .asked = *asked,
			      .sent = now_of(s)};
	if (link_lookup_async(redis_of(s, of), &q->target, on_answer, a, err) <
	    0) {
		free(a);
		return -1;
	}
	breaker_begin(&s->sides[of].breaker);
	redirector_count(s->counters, of == LOOKUP_MASTER
					      ? COUNTER_ASKED_MASTER
					      : COUNTER_ASKED_REPLICA);
	q->attempt = a;
	return 0;
}

static int send_to_master(struct link_query *q, struct error *err)
{
	const struct freshness_mark asked =
		freshness_mark(q->source->changes, now_of(q->source));

	q->tries++;
	return send_to(q, LOOKUP_MASTER, &asked, err);
}

static int refuse_query(enum redirector_counter *ret_why, struct error *err)
{
	*ret_why = COUNTER_UNAVAILABLE_BREAKER;
	return error_set_retriable(err, ERROR_REMOTE,
				   "redis: look-ups are paused, after some "
				   "that failed or took too long");
}

static int ask_master(struct link_query *q, enum redirector_counter *ret_why,
		      struct error *err)
{
	*ret_why = COUNTER_UNAVAILABLE;
	switch (may_ask(&q->source->sides[LOOKUP_MASTER])) {
	case BREAKER_ASK:
		return send_to_master(q, err);
	case BREAKER_WAIT:
		enqueue_question(q);
		return 0;
	case BREAKER_REFUSE:
		break;
	}
	return refuse_query(ret_why, err);
}

/* True if the replica has all writes for the link that are known of. */
static bool has_all_of(const struct link_source *s, const struct link_query *q,
		       int64_t as_of)
{
	return as_of > freshness_unnamed_until(s->changes) &&
	       as_of > recent_changes_last(s->recent,
					   link_target_code(&q->target));
}

/* Returns false if no query was sent. */
static bool ask_replica(struct link_query *q, int64_t behind_max)
{
	struct link_source *s = q->source;
	const struct replica *replica = s->server->replica;
	int64_t as_of = replica ? replica_as_of(replica) : REPLICA_NEVER;
	struct freshness_mark asked;
	struct error ignored;

	if (as_of <= now_of(s) - behind_max || !replica_redis(replica) ||
	    !has_all_of(s, q, as_of) ||
	    may_ask(&s->sides[LOOKUP_REPLICA]) != BREAKER_ASK)
		return false;
	asked = freshness_mark_of_copy(s->changes, as_of);
	if (send_to(q, LOOKUP_REPLICA, &asked, &ignored) < 0)
		return false;
	deadlines_add(&s->patience, &q->patience, q);
	return true;
}

/* The master failed, or may not be queried now.  A replica may stand in, as it
 * may for later visits; it is tried once. */
static void use_replica_or_fail(struct link_query *q,
				enum redirector_counter why,
				const struct error *err)
{
	if (!is_well(err) && q->may_stand_in && !q->fell_back) {
		q->fell_back = true;
		if (ask_replica(q, q->source->settings->cache_stale))
			return;
	}
	finish_question(q, NULL, why, err);
}

/* Called when the answer of a replica was of no use. */
static void ask_master_instead(struct link_query *q)
{
	enum redirector_counter why;
	struct error err;

	if (ask_master(q, &why, &err) < 0)
		use_replica_or_fail(q, why, &err);
}

/* Sends waiting queries while the breaker permits; if it refuses, all of them
 * fail. */
static void go_on(struct link_source *s)
{
	enum redirector_counter why;
	enum breaker_word word;
	struct link_query *q;
	struct error err;
	int status;

	while (s->first &&
	       (word = may_ask(&s->sides[LOOKUP_MASTER])) != BREAKER_WAIT) {
		q = s->first;
		dequeue_question(q);
		why = COUNTER_UNAVAILABLE;
		status = word == BREAKER_ASK ? send_to_master(q, &err)
					     : refuse_query(&why, &err);
		if (status < 0)
			use_replica_or_fail(q, why, &err);
	}
}

/* --- the replica ---------------------------------------------------------- */

/* True for a link that is there now.  A replica is no proof that a link is
 * absent, gone, or not begun yet. */
static bool is_live(const struct link_answer *answer)
{
	return answer->link && !answer->begins_in &&
	       (answer->outcome == LINK_OUTCOME_REDIRECT ||
		answer->outcome == LINK_OUTCOME_BLOCKED ||
		answer->outcome == LINK_OUTCOME_PAUSED);
}

static bool has_changed(const struct link_query *q,
			const struct freshness_mark *asked)
{
	struct freshness_reader *changes = q->source->changes;

	freshness_sync(changes);
	return freshness_changed_since(changes, link_target_code(&q->target),
				       asked);
}

/* True if another Redis reported a change that this one, and its replica, may
 * never receive. */
static bool was_changed_elsewhere(const struct link_query *q)
{
	const struct link_source *s = q->source;

	return recent_changes_last(s->recent, link_target_code(&q->target)) >=
	       freshness_elsewhere_since(s->changes);
}

/* Classifies a copy: COUNTER_REPLICA_USED, an answer; _STOOD_IN, one that may
 * stand in; any other is of no use. */
static enum redirector_counter judge_copy(const struct link_query *q,
					  const struct link_found *found,
					  const struct error *err)
{
	const struct link_source *s = q->source;

	if (err)
		return COUNTER_REPLICA_FAILED;
	if (!is_live(found->answer))
		return COUNTER_REPLICA_LACKED;
	if (has_changed(q, &found->asked) || was_changed_elsewhere(q))
		return COUNTER_REPLICA_OUTDATED;
	return freshness_is_fresh(s->changes, &found->asked, now_of(s))
		       ? COUNTER_REPLICA_USED
		       : COUNTER_REPLICA_STOOD_IN;
}

static void take_copy(struct link_query *q, const struct link_found *found,
		      const struct error *err)
{
	struct redirector_counters *counters = q->source->counters;
	enum redirector_counter what = judge_copy(q, found, err),
				why = COUNTER_UNAVAILABLE;
	bool asked, stands_in = what == COUNTER_REPLICA_STOOD_IN,
		    enough = what == COUNTER_REPLICA_USED ||
			     (stands_in && q->fell_back);
	struct error failure;

	deadlines_remove(&q->source->patience, &q->patience);
	asked = !enough && ask_master(q, &why, &failure) == 0;
	if (stands_in && (asked || !q->may_stand_in))
		what = COUNTER_REPLICA_OUTDATED;
	redirector_count(counters, what);
	if (asked)
		return;
	if (what == COUNTER_REPLICA_USED || what == COUNTER_REPLICA_STOOD_IN)
		finish_question(q, found, why, NULL);
	else
		finish_question(q, NULL, why, &failure);
}

/* --- answers -------------------------------------------------------------- */

static void reject_answer(struct link_query *q, const char *why)
{
	struct error err;

	error_set(&err, ERROR_REMOTE, "link %s %s", q->target.code, why);
	finish_question(q, NULL, COUNTER_UNAVAILABLE, &err);
}

/* The answer may be older than a change that was received already on the other
 * connection.  Then it is dropped, and the link looked up again.  It may also
 * come from a Redis that the change has not reached; then another query is of
 * no use. */
static void take_answer(struct link_query *q, const struct link_found *found,
			const struct error *err)
{
	bool changed = !err && has_changed(q, &found->asked);

	if (err)
		use_replica_or_fail(q, COUNTER_UNAVAILABLE, err);
	else if (changed && q->tries < TRIES)
		ask_master_instead(q);
	else if (changed)
		reject_answer(q, "changes faster than it can be read");
	else if (was_changed_elsewhere(q))
		reject_answer(q,
			      "was changed in another Redis than it is looked "
			      "up in");
	else
		finish_question(q, found, COUNTER_UNAVAILABLE, NULL);
}

static void on_answer(void *arg, const struct link_answer *answer,
		      const struct error *err)
{
	struct attempt *a = arg;
	struct link_source *s = a->source;
	struct link_query *q = a->question;
	const struct link_found found = {answer, a->asked, a->sent};
	enum lookup_server of = a->of;

	breaker_end(&s->sides[of].breaker);
	if (!a->judged)
		note_query_result(&s->sides[of], is_well(err));
	free(a);
	if (q) {
		q->attempt = NULL;
		if (of == LOOKUP_REPLICA)
			take_copy(q, &found, err);
		else
			take_answer(q, &found, err);
	}
	go_on(s);
}

/* Detaches a query whose result is not needed any more; it counts as failed. */
static void give_up(struct link_query *q)
{
	struct attempt *a = q->attempt;

	a->question = NULL;
	a->judged = true;
	q->attempt = NULL;
	note_query_result(&q->source->sides[a->of], false);
	if (a->of == LOOKUP_REPLICA)
		redirector_count(q->source->counters, COUNTER_REPLICA_FAILED);
}

static void on_late(void *owner)
{
	struct link_query *q = owner;
	struct link_source *s = q->source;
	struct error err;

	if (q->attempt)
		give_up(q);
	else
		dequeue_question(q);
	error_set_retriable(&err, ERROR_REMOTE,
			    "redis: no answer within "
			    "redirector.lookup_timeout");
	finish_question(q, NULL, COUNTER_UNAVAILABLE_LATE, &err);
	go_on(s);
}

static void on_patience_lost(void *owner)
{
	struct link_query *q = owner;

	give_up(q);
	ask_master_instead(q);
}

/* --- interface ------------------------------------------------------------ */

static struct link_query *question_new(struct link_source *s,
				       const struct link_target *target,
				       link_found_fn *fn, void *arg)
{
	struct link_query *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->source = s;
	q->target = *target;
	q->fn = fn;
	q->arg = arg;
	return q;
}

int link_source_ask(struct link_source *s, const struct link_target *target,
		    bool stand_in, link_found_fn *fn, void *arg,
		    enum redirector_counter *ret_why, struct error *err)
{
	struct link_query *q = question_new(s, target, fn, arg);

	*ret_why = COUNTER_UNAVAILABLE;
	if (!q)
		return error_set_nomem(err);
	q->may_stand_in = stand_in;
	if (!ask_replica(q, s->settings->replica_lag_max) &&
	    ask_master(q, ret_why, err) < 0 &&
	    !(stand_in && ask_replica(q, s->settings->cache_stale))) {
		free(q);
		return -1;
	}
	deadlines_add(&s->late, &q->late, q);
	return 0;
}

bool link_source_permits(struct link_source *s)
{
	return may_ask(&s->sides[LOOKUP_MASTER]) != BREAKER_REFUSE;
}

void link_source_begun(struct link_source *s)
{
	breaker_begin(&s->sides[LOOKUP_MASTER].breaker);
}

void link_source_ended(struct link_source *s, const struct error *err)
{
	breaker_end(&s->sides[LOOKUP_MASTER].breaker);
	note_query_result(&s->sides[LOOKUP_MASTER], is_well(err));
	go_on(s);
}

void link_source_note_change(struct link_source *s, struct http_slice code)
{
	recent_changes_note(s->recent, code, now_of(s));
}

/* --- making --------------------------------------------------------------- */

static int make_side(struct link_source *s, enum lookup_server of,
		     struct error *err)
{
	const struct redirector_settings *settings = s->settings;
	const struct breaker_rules rules = {
		.failures = (unsigned)settings->breaker_failures,
		.wait_max = settings->breaker_wait_max,
		.first = (unsigned)settings->lookups_at_first,
		.share = (unsigned)settings->breaker_failure_share,
	};
	struct side *side = &s->sides[of];

	side->source = s;
	side->of = of;
	breaker_init(&side->breaker, &rules, now_of(s));
	side->timer = loop_timer_new(s->server->loop, on_wait_over, side, err);
	return side->timer ? 0 : -1;
}

static int make_parts(struct link_source *s, struct error *err)
{
	struct loop *loop = s->server->loop;

	for (int i = 0; i < LOOKUP_SERVERS; i++)
		if (make_side(s, (enum lookup_server)i, err) < 0)
			return -1;
	s->recent = recent_changes_new(err);
	if (!s->recent ||
	    deadlines_init(&s->late, loop, s->settings->lookup_timeout, on_late,
			   err) < 0)
		return -1;
	return deadlines_init(&s->patience, loop, s->settings->replica_timeout,
			      on_patience_lost, err);
}

struct link_source *link_source_new(const struct server_context *server,
				    struct freshness_reader *changes,
				    struct redirector_counters *counters,
				    struct error *err)
{
	struct link_source *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->server = server;
	s->settings = &server->redirector->config->redirector;
	s->changes = changes;
	s->counters = counters;
	if (make_parts(s, err) == 0)
		return s;
	link_source_free(s);
	return NULL;
}

void link_source_free(struct link_source *s)
{
	if (!s)
		return;
	for (int i = 0; i < LOOKUP_SERVERS; i++)
		loop_timer_free(s->sides[i].timer);
	deadlines_release(&s->late);
	deadlines_release(&s->patience);
	recent_changes_free(s->recent);
	free(s);
}
