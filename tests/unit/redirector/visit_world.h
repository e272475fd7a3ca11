/*
 * visit_world.h - the handler of visits in its thread: behind a listener, with
 * a Redis of the test's own.  Witnesses receive the events and the log's lines
 * (answer_world.h).
 */
#ifndef TESTS_UNIT_REDIRECTOR_VISIT_WORLD_H
#define TESTS_UNIT_REDIRECTOR_VISIT_WORLD_H

/* Some links are due for renewal at once, and some never. */
#define AW_LINKS                                                               \
	"links: {renew_every: 1ms, ttl_classes: [1d, never], spaces: ["        \
	"{name: alias, number: 8, strategy: alias}, "                          \
	"{name: s7, number: 1, length: 7, keys: [{version: 0, key: "           \
	"\"env:SHORTLOOP_TEST_KEY\"}]}]}\n"

#include "tests/unit/redirector/answer_world.h"

#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#include "codespace/link_id.h"
#include "linkstore/denied_hosts_follower.h"
#include "linkstore/link/edit.h"
#include "linkstore/space/space_monitor.h"
#include "linkstore/standalone.h"
#include "redirector/lookup/freshness.h"
#include "redirector/lookup/lookup_health.h"
#include "redirector/visit/deny_file.h"
#include "redirector/visit/renew_throttle.h"
#include "redirector/visit/robots.h"
#include "redirector/visit/visits.h"
#include "tests/unit/linkstore/fixture.h"

/* The section `redirector` with these settings; VW_PATIENT has timeouts for a
 * busy machine. */
#define VW_REDIRECTOR(settings) "redirector: {" settings "retry_after: 5s}\n"
#define VW_PATIENT		"lookup_timeout: 1m, cache_ttl: 1h, cache_negative_ttl: 1m, "

struct visit_world {
	struct answer_world *answers;
	struct fixture links; /* the store belongs to the redirector */
	struct health *health;
	struct server_context context;
	void *visits;
	atomic_bool up; /* the thread's connection to Redis */
	atomic_int requests, failures;
};

/* Finds the witness of failures: redirector.c is not linked. */
struct visit_log {
	struct redirector *redirector;
	struct visit_world *world;
};
static struct visit_log visit_log;

void redirector_log_lookup_failure(struct redirector *r,
				   const struct error *err)
{
	assert_ptr_equal(r, visit_log.redirector);
	assert_true(*err->text);
	atomic_fetch_add(&visit_log.world->failures, 1);
}

static inline void vw_on_request(struct answer_world *a,
				 struct http_request *req)
{
	struct visit_world *w = visit_log.world;

	(void)a;
	visits_handler.on_request(req, w->visits);
	atomic_fetch_add(&w->requests, 1);
}

static inline void vw_on_turn_end(void *arg)
{
	struct visit_world *w = arg;

	visits_handler.on_turn_end(w->visits);
}

static inline void vw_on_redis(void *arg, bool up, const struct error *err)
{
	struct visit_world *w = arg;

	(void)err;
	if (up)
		visits_handler.on_connected(w->visits, LOOKUP_MASTER);
	else
		visits_handler.on_redis_lost(w->visits);
	atomic_store(&w->up, up);
}

static inline void vw_on_checked(void *arg, const struct link_space *space,
				 enum space_state state,
				 const struct error *err)
{
	(void)arg;
	(void)space;
	(void)state;
	(void)err;
}

static inline void vw_make_redirector(struct visit_world *w)
{
	struct redirector *r = &w->answers->redirector;
	const struct redirector_settings *s = &r->config->redirector;
	struct error err = {0};
	const struct space_monitor_options spaces = {
		.store = r->store,
		.use = SPACE_TO_READ,
		.every = s->space_check_every,
		.on_checked = vw_on_checked,
	};
	struct lookup_health_options lookups = {.metrics = r->registry,
						.threads = r->threads};
	struct denied_hosts_follower_options denied = {
		.store = r->store,
		.redis = &w->links.server.config,
		.metrics = r->registry,
	};

	w->health = lookups.health = denied.health = health_new();
	r->log = lookups.log = denied.log =
		log_new("test", STDERR_FILENO, LOG_ERROR, LOG_LOGFMT, &err);
	r->denied_hosts = denied_hosts_follower_new(&denied, &err);
	r->freshness = freshness_new(&err);
	r->spaces = space_monitor_new(&spaces, &err);
	r->lookups = lookup_health_new(&lookups, &err);
	r->renewals = renew_throttle_new(&err);
	r->files[FILE_ROBOTS] =
		reloadable_new(&robots_kind, &r->config->robots, &err);
	r->limit_exempt =
		network_list_new(&s->limit_exempt, "limit_exempt", &err);
	if (s->deny_file)
		r->files[FILE_DENIED] =
			reloadable_new(&deny_file_kind, s->deny_file, &err);
	if (*err.text)
		fail_msg("%s", err.text);
}

static inline void vw_make_thread(struct visit_world *w)
{
	struct redirector *r = &w->answers->redirector;
	struct server_context *c = &w->context;
	struct error err = {0};

	*c = (struct server_context){.redirector = r,
				     .number = AW_THREAD,
				     .loop = w->answers->http.loop};
	c->redis = redis_async_new(c->loop, &w->links.server.config,
				   linkstore_scripts(r->store), vw_on_redis, w,
				   &err);
	w->visits = visits_handler.create(c, &err);
	if (!w->visits)
		fail_msg("%s", err.text);
	assert_int_equal(loop_on_turn_end(c->loop, vw_on_turn_end, w, &err), 0);
	assert_int_equal(
		space_monitor_start(r->spaces, c->loop, c->redis, &err), 0);
}

/* The semaphore also makes what was done before visible. */
static inline void vw_met(void *arg)
{
	sem_post(arg);
}

/* Waits for the end of the thread's turn: the caller sees all that the thread
 * has done until now. */
static inline void vw_meet(struct visit_world *w)
{
	struct error err;
	sem_t met;

	sem_init(&met, 0, 0);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(loop_post(w->context.loop, vw_met, &met, &err),
				 0);
		while (sem_wait(&met))
			;
	}
	sem_destroy(&met);
}

static inline void vw_await_redis(struct visit_world *w)
{
	while (!atomic_load(&w->up))
		usleep(1000);
}

/* Notifies the thread that there are no changes. */
static inline void vw_confirm(struct visit_world *w)
{
	freshness_resume(w->answers->redirector.freshness, "");
	freshness_confirm(w->answers->redirector.freshness, INT64_MAX);
}

static inline void vw_create_spaces(struct visit_world *w)
{
	const struct redirector *r = &w->answers->redirector;
	struct fixture *f = &w->links;
	enum space_created created;

	for (size_t i = 0; i < linkstore_space_count(f->store); i++)
		must(f,
		     space_create(f->server.redis, linkstore_space(f->store, i),
				  0, &created, &f->err));
	while (!space_monitor_all_ready(r->spaces))
		usleep(1000);
}

/* Starts a thread of a redirector with this configuration; its Redis has no
 * space. */
static inline struct visit_world *vw_start_empty(const char *text)
{
	struct visit_world *w = calloc(1, sizeof(*w));
	struct fixture *f = &w->links;

	redis_server_start(&f->server);
	w->answers = aw_make(text);
	visit_log = (struct visit_log){&w->answers->redirector, w};
	f->store = w->answers->redirector.store;
	fixture_connect(f);
	f->day = linkstore_class_named(f->store, "1d");
	f->never = linkstore_class_named(f->store, "never");
	vw_make_redirector(w);
	vw_make_thread(w);
	w->answers->answer = vw_on_request;
	world_run(&w->answers->http);
	vw_await_redis(w);
	return w;
}

static inline struct visit_world *vw_start(const char *text)
{
	struct visit_world *w = vw_start_empty(text);

	vw_create_spaces(w);
	vw_confirm(w);
	return w;
}

static inline void vw_stop(struct visit_world *w)
{
	struct redirector *r = &w->answers->redirector;

	world_stop(&w->answers->http);
	space_monitor_stop(r->spaces);
	redis_async_free(w->context.redis);
	visits_handler.destroy(w->visits);
	denied_hosts_follower_free(r->denied_hosts);
	reloadable_free(r->files[FILE_DENIED]);
	network_list_free(r->limit_exempt);
	reloadable_free(r->files[FILE_ROBOTS]);
	renew_throttle_free(r->renewals);
	lookup_health_free(r->lookups);
	space_monitor_free(r->spaces);
	freshness_free(r->freshness);
	log_free(r->log);
	health_free(w->health);
	await_free(w->links.await);
	redis_server_stop(&w->links.server);
	aw_free(w->answers);
	free(w);
}

/* --- links ---------------------------------------------------------------- */

/* Stores a live link under an alias, with a maximum number of visits; 0: none.
 */
static inline struct link_target vw_store(struct visit_world *w,
					  const char *alias,
					  const struct link_class *ttl,
					  uint64_t max_visits)
{
	struct fixture *f = &w->links;
	Shortloop__Link link = empty_link();
	struct standalone_result result;
	struct link_target t;

	link.url = text_of("https://to.example/");
	link.max_visits = max_visits;
	must(f, linkstore_alias(f->store, alias, strlen(alias), &t, &f->err));
	standalone_prepare(ttl, link_id_blockless(strlen(alias)), &link);
	must(f, await_standalone(f->await, &t, &link, 0, &result, &f->err));
	assert_int_equal(result.outcome, STANDALONE_CREATED);
	return t;
}

/* Deletes a link and leaves its tombstone. */
static inline void vw_delete(struct visit_world *w, const struct link_target *t)
{
	struct fixture *f = &w->links;
	struct link_answer before;
	Shortloop__Link after;
	int64_t expires;

	must(f, await_lookup(f->await, t, &before, &f->err));
	link_edit_delete(before.link, before.ttl_left, &after);
	must(f, await_edit(f->await, t, before.link, &after, NULL, &expires,
			   &f->err));
	await_release(&before.link);
}

/* Returns once the redirector has noticed that its Redis is gone. */
static inline void vw_end_redis(struct visit_world *w)
{
	redis_server_kill(&w->links.server);
	while (atomic_load(&w->up))
		usleep(1000);
}

/* --- visits --------------------------------------------------------------- */

/* Returns the status of a visit. */
static inline int vw_visit_with(struct visit_world *w, const char *method,
				const char *path, const char *fields)
{
	char *answer = aw_ask(w->answers, method, path, fields);
	int status = status_of(answer);

	free(answer);
	vw_meet(w);
	return status;
}

static inline int vw_visit(struct visit_world *w, const char *path)
{
	return vw_visit_with(w, "GET", path, "");
}

/* Returns the metric's value, by its name and labels. */
static inline long vw_counted(struct visit_world *w, const char *name)
{
	struct buf text = {0};
	char line[160];
	const char *at;
	long value = -1;

	snprintf(line, sizeof(line), "\nshortloop_redirector_%s ", name);
	metrics_render(w->answers->redirector.registry, &text);
	at = strstr(buf_cstr(&text), line);
	if (at)
		value = strtol(at + strlen(line), NULL, 10);
	else
		fail_msg("no %s in:\n%s", name, buf_cstr(&text));
	buf_free(&text);
	return value;
}

#define VW_HITS		"cache_lookups_total{result=\"hit\"}"
#define VW_MISSES	"cache_lookups_total{result=\"miss\"}"
#define VW_STALE	"cache_lookups_total{result=\"stale\"}"
#define VW_ASKED	"questions_total{of=\"master\"}"
#define VW_LOOKUPS	"redis_lookups_total{result=\"answered\"}"
#define VW_FAILED	"redis_lookups_total{result=\"failed\"}"
#define VW_FORGOTTEN	"limits_forgotten_total"
#define VW_REFUSED	"refused_codes_total"
#define VW_RENEWED	"renewals_total{result=\"done\"}"
#define VW_ALLOWED	"counted_visits_total{result=\"allowed\"}"
#define VW_OVER		"counted_visits_total{result=\"over\"}"
#define VW_UNCOUNTED	"counted_visits_total{result=\"failed\"}"
#define VW_FETCHES	"counted_visits_total{result=\"fetch\"}"
#define VW_FETCHES_OVER "counted_visits_total{result=\"fetch_over\"}"
#define VW_ANSWER(outcome, status)                                             \
	"answers_total{outcome=\"" outcome "\",status=\"" status "\"}"

#endif
