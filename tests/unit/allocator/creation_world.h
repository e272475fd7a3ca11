/* creation_world.h - everything that a thread of an allocator needs to create
 * links, with a Redis of the test's own, and a strategy that loses the answers
 * a test chooses. */
#ifndef TESTS_UNIT_ALLOCATOR_CREATION_WORLD_H
#define TESTS_UNIT_ALLOCATOR_CREATION_WORLD_H

#include <arpa/inet.h>

#include "allocator/create/create.h"
#include "allocator/create/creation.h"
#include "allocator/create/idempotency.h"
#include "allocator/create/strategy.h"
#include "linkstore/block/link_writer.h"
#include "linkstore/idempotency_record.h"
#include "tests/unit/linkstore/fixture.h"

struct creation_world {
	struct fixture *f;
	struct loop *loop;
	struct loop_timer *timeout, *tick;
	struct redis_async *redis;
	struct redis_reserve *reserve;
	struct metrics *metrics;
	struct health *health;
	struct log *log;
	struct log_pace failures;
	struct high_water_file *high_water_file;
	struct creation_metrics counts;
	struct block_pool_metrics block_counts;
	struct space_monitor *monitor;
	struct creation_context context;
	struct account_rules rules;
	char audit_path[64];
	struct sockaddr_storage peer;
};

/* The result of a creation. */
struct made {
	struct creation_world *w;
	bool done;
	int status;
	bool replayed;
	unsigned retry_after;
	char detail[512];
	char code[ALIAS_TEXT_MAX];
	char creator[64];
	Shortloop__LinkSource source;
	uint64_t link_id;
	int64_t expires;
};

/* The fields of a request; a field that is NULL is not sent. */
struct asked {
	const struct link_space *space;
	const char *url, *owner, *alias, *key, *body, *account;
	const struct link_class *ttl;
	const struct strategy *strategy; /* NULL: the strategy of the space */
	const struct key_names *owners;
	uint64_t line;
};

static inline void world_timeout(void *arg)
{
	(void)arg;
	fail_msg("nothing happened within a minute");
}

static inline void world_run(struct creation_world *w)
{
	struct error err = {0};

	loop_timer_set(w->timeout, 60000);
	assert_int_equal(loop_run(w->loop, &err), 0);
	loop_timer_stop(w->timeout);
}

static inline void world_on_tick(void *arg)
{
	struct creation_world *w = arg;

	loop_stop(w->loop);
}

/* Runs some turns of the loop. */
static inline void world_turn(struct creation_world *w)
{
	loop_timer_set(w->tick, 2);
	world_run(w);
}

static inline void world_on_state(void *arg, bool up, const struct error *err)
{
	struct creation_world *w = arg;

	(void)err;
	if (up)
		loop_stop(w->loop);
}

static inline void world_on_checked(void *arg, const struct link_space *space,
				    enum space_state state,
				    const struct error *err)
{
	struct creation_world *w = arg;

	(void)space;
	(void)state;
	(void)err;
	if (space_monitor_all_ready(w->monitor))
		loop_stop(w->loop);
}

/* --- set-up of a test program --------------------------------------------- */

struct world_shared {
	struct fixture *f; /* has the Redis; each test has a store of its own */
	struct metrics *metrics;
	struct health *health;
	struct allocator_config config;
	struct link_events *events;
};

static inline struct world_shared *world_shared(void)
{
	static struct world_shared shared;

	return &shared;
}

/* Kafka is down: events wait in the queue. */
static inline int creation_world_begin(void **state)
{
	static char broker[] = "127.0.0.1:1", topic[] = "links",
		    plain[] = "plaintext", *brokers[] = {broker};
	struct world_shared *s = world_shared();
	struct error err = {0};

	(void)state;
	s->f = calloc(1, sizeof(*s->f));
	redis_server_start(&s->f->server);
	fixture_configure_all(s->f);
	s->f->config.hold_max = 3600 * 1000;
	s->metrics = metrics_new();
	s->health = health_new();
	s->config.kafka = (struct kafka_config){.brokers = {brokers, 1},
						.topic_links = topic,
						.queue_messages = 1000,
						.queue_bytes = 1 << 20,
						.security_protocol = plain};
	s->events =
		link_events_new(&s->config, NULL, s->health, s->metrics, &err);
	if (!s->events)
		fail_msg("%s", err.text);
	return 0;
}

static inline int creation_world_end(void **state)
{
	struct world_shared *s = world_shared();
	void *f = s->f;

	(void)state;
	link_events_free(s->events, 0);
	health_free(s->health);
	metrics_free(s->metrics);
	return teardown_fixture(&f);
}

/* --- set-up of each test -------------------------------------------------- */

/* Makes an empty Redis with a space of every strategy. */
static inline void world_make_spaces(struct fixture *f)
{
	enum space_created created;

	fixture_open_store(f);
	freeReplyObject(redis_server_ask(&f->server, "FLUSHALL"));
	for (size_t i = 0; i < linkstore_space_count(f->store); i++)
		must(f,
		     space_create(f->server.redis, linkstore_space(f->store, i),
				  0, &created, &f->err));
}

static inline void world_watch_spaces(struct creation_world *w)
{
	const struct space_monitor_options options = {
		.store = w->f->store,
		.use = SPACE_TO_ISSUE,
		.every = 3600 * 1000,
		.high_water_file = w->high_water_file,
		.on_checked = world_on_checked,
		.arg = w,
	};
	struct error err = {0};

	w->monitor = space_monitor_new(&options, &err);
	assert_non_null(w->monitor);
	assert_int_equal(
		space_monitor_start(w->monitor, w->loop, w->redis, &err), 0);
	world_run(w);
}

static inline void world_open_audit(struct creation_world *w)
{
	struct audit_options audit = {.path = w->audit_path,
				      .queue_bytes = 1 << 20};
	struct error err = {0};

	unit_write_file("", w->audit_path);
	audit.health = w->health;
	audit.metrics = w->metrics;
	w->context.audit = audit_new(&audit, &err);
	assert_non_null(w->context.audit);
}

static inline void world_open_blocks(struct creation_world *w)
{
	struct block_pool_options options = {
		.loop = w->loop,
		.redis = w->redis,
		.store = w->f->store,
		.name = "test",
		.waiting_max = 100,
		.metrics = &w->block_counts,
		.high_water_file = w->high_water_file,
	};
	struct error err = {0};

	w->context.block_pool = block_pool_new(&options, &err);
	w->context.ids =
		id_generator_new(3, w->f->store, "test", w->health, &err);
	assert_non_null(w->context.block_pool);
	assert_non_null(w->context.ids);
	assert_int_equal(
		id_generator_start(w->context.ids, w->loop, w->redis, &err), 0);
}

static inline void world_await_ids(struct creation_world *w)
{
	struct error err;
	uint64_t id;

	for (int left = 10000;
	     id_generator_next_link_id(w->context.ids, &id, &err) < 0; left--) {
		assert_true(left > 0);
		world_turn(w);
	}
}

static inline void world_register_rules(struct creation_world *w)
{
	struct account_rules *r = &w->rules;

	r->links_refused =
		metrics_counter(w->metrics, "refused", "x=\"l\"", "");
	r->bytes_refused =
		metrics_counter(w->metrics, "refused", "x=\"b\"", "");
	r->ttl_refused = metrics_counter(w->metrics, "refused", "x=\"t\"", "");
	r->spaces_refused =
		metrics_counter(w->metrics, "refused", "x=\"s\"", "");
	r->links_used = metrics_gauge(w->metrics, "used", "x=\"l\"", "");
	r->bytes_used = metrics_gauge(w->metrics, "used", "x=\"b\"", "");
}

static inline int creation_world_set_up(void **state)
{
	struct creation_world *w = calloc(1, sizeof(*w));
	struct sockaddr_in *in = (struct sockaddr_in *)&w->peer;
	struct error err = {0};

	w->f = world_shared()->f;
	world_make_spaces(w->f);
	w->metrics = metrics_new();
	w->health = health_new();
	w->loop = loop_new(&err);
	w->timeout = loop_timer_new(w->loop, world_timeout, w, &err);
	w->tick = loop_timer_new(w->loop, world_on_tick, w, &err);
	w->redis = redis_async_new(w->loop, &w->f->server.config,
				   linkstore_scripts(w->f->store),
				   world_on_state, w, &err);
	w->reserve = redis_reserve_new(90, w->metrics, NULL, &err);
	w->high_water_file = high_water_file_open(NULL, w->f->store, &err);
	creation_metrics_register(&w->counts, w->metrics);
	block_pool_metrics_register(&w->block_counts, w->metrics);
	world_register_rules(w);
	in->sin_family = AF_INET;
	w->context = (struct creation_context){
		.redis = w->redis,
		.reserve = w->reserve,
		.urls = url_checker_new(w->loop, w->redis, &err),
		.writer = link_writer_new(w->loop, w->redis, &err),
		.metrics = &w->counts,
		.events = world_shared()->events,
		.failures = &w->failures,
		.created = calloc(linkstore_space_count(w->f->store),
				  sizeof(uint64_t)),
	};
	world_run(w);
	world_watch_spaces(w);
	w->context.spaces = w->monitor;
	world_open_audit(w);
	world_open_blocks(w);
	world_await_ids(w);
	*state = w;
	return 0;
}

static inline int creation_world_tear_down(void **state)
{
	struct creation_world *w = *state;

	space_monitor_stop(w->monitor);
	id_generator_stop(w->context.ids);
	redis_reserve_stop(w->reserve);
	link_writer_free(w->context.writer);
	redis_async_free(w->redis);
	url_checker_free(w->context.urls);
	block_pool_free(w->context.block_pool);
	space_monitor_free(w->monitor);
	id_generator_free(w->context.ids);
	redis_reserve_free(w->reserve);
	loop_timer_free(w->timeout);
	loop_timer_free(w->tick);
	loop_free(w->loop);
	audit_free(w->context.audit, 5000);
	high_water_file_free(w->high_water_file);
	health_free(w->health);
	metrics_free(w->metrics);
	unlink(w->audit_path);
	free(w->context.created);
	free(w);
	return 0;
}

#define IN_WORLD(test)                                                         \
	cmocka_unit_test_setup_teardown(test, creation_world_set_up,           \
					creation_world_tear_down)

/* --- creating ------------------------------------------------------------- */

static inline void on_made(void *arg, const struct creation_result *r)
{
	struct made *m = arg;

	assert_false(m->done);
	m->done = true;
	m->status = r->status;
	m->replayed = r->replayed;
	m->retry_after = r->retry_after;
	m->expires = r->expires;
	snprintf(m->detail, sizeof(m->detail), "%s",
		 r->detail ? r->detail : "");
	if (r->link) {
		m->link_id = r->link->link_id;
		snprintf(m->creator, sizeof(m->creator), "%s",
			 r->link->creator);
		m->source = r->link->source;
		snprintf(m->code, sizeof(m->code), "%s", r->code);
	}
	loop_stop(m->w->loop);
}

static inline struct http_slice slice_of(const char *text)
{
	return (struct http_slice){text, text ? strlen(text) : 0};
}

/* The request must outlive the creation; `m` is filled in when it ends. */
static inline void start_creation(struct creation_world *w, struct made *m,
				  struct link_request *request,
				  const struct asked *asked)
{
	static struct audit_source source;
	struct api_key_info caller = {.roles = API_CREATE,
				      .owners = asked->owners,
				      .rules = &w->rules};
	const struct creation_order order = {
		.request = request,
		.caller = &caller,
		.source = &source,
		.key = slice_of(asked->key),
		.line = asked->line,
		.body = slice_of(asked->body ? asked->body : "{}"),
	};

	source = (struct audit_source){.key = "crm", .peer = &w->peer};
	snprintf(caller.name, sizeof(caller.name), "crm-key");
	snprintf(caller.account, sizeof(caller.account), "%s",
		 asked->account ? asked->account : "crm");
	*request = (struct link_request){
		.fields = {.url = asked->url ? asked->url
					     : "https://example.org/",
			   .ttl = asked->ttl ? asked->ttl : w->f->day,
			   .space = asked->space ? asked->space : w->f->space,
			   .code = asked->alias ? asked->alias : "",
			   .owner = asked->owner ? asked->owner : "",
			   .campaign = "",
			   .description = ""}};
	*m = (struct made){.w = w};
	if (asked->strategy)
		creation_begin(&w->context, &order, asked->strategy, on_made,
			       m);
	else
		create_link(&w->context, &order, on_made, m);
}

static inline void finish_creation(struct creation_world *w, struct made *m)
{
	while (!m->done)
		world_run(w);
}

static inline struct made create_link_and_wait(struct creation_world *w,
					       const struct asked *asked)
{
	struct link_request request;
	struct made m;

	start_creation(w, &m, &request, asked);
	finish_creation(w, &m);
	return m;
}

/* Waits until the commands without an awaited answer are done. */
static inline void settle_world(struct creation_world *w)
{
	do
		world_turn(w);
	while (redis_async_pending(w->redis));
}

/* --- state of Redis ------------------------------------------------------- */

static inline size_t keys_like(struct creation_world *w, const char *pattern)
{
	char words[64];
	redisReply *reply;
	size_t n;

	snprintf(words, sizeof(words), "KEYS %s", pattern);
	reply = redis_server_ask(&w->f->server, words);
	n = reply->elements;
	freeReplyObject(reply);
	return n;
}

static inline size_t links_stored(struct creation_world *w)
{
	return keys_like(w, "l:*");
}

/* Returns the only key that matches the pattern. */
static inline const char *key_like(struct creation_world *w,
				   const char *pattern, char ret[128])
{
	char words[64];
	redisReply *reply;

	snprintf(words, sizeof(words), "KEYS %s", pattern);
	reply = redis_server_ask(&w->f->server, words);
	assert_int_equal(reply->elements, 1);
	snprintf(ret, 128, "%s", reply->element[0]->str);
	freeReplyObject(reply);
	return ret;
}

/* Returns what the account crm was charged: "links" or "bytes". */
static inline long long read_charged_quota(struct creation_world *w,
					   const char *field)
{
	char key[128], words[160];

	snprintf(words, sizeof(words), "HGET %s %s",
		 key_like(w, "quota:{crm}:*", key), field);
	return redis_server_number(&w->f->server, words);
}

static inline struct idem_record record_in_redis(struct creation_world *w)
{
	char key[128], words[160], text[512];
	struct idem_record record;

	snprintf(words, sizeof(words), "GET %s", key_like(w, "i:*", key));
	must(w->f,
	     idem_record_parse(redis_server_text(&w->f->server, words, text),
			       &record, &w->f->err));
	return record;
}

/* Replaces the stored record with this one. */
static inline void put_record(struct creation_world *w,
			      const struct idem_record *r)
{
	char key[128], text[IDEM_RECORD_MAX];
	const char *argv[] = {"SET", key, text};
	redisReply *reply;

	key_like(w, "i:*", key);
	snprintf(text, sizeof(text), "%s %lld %s %llu %s", r->done ? "d" : "p",
		 (long long)r->deadline, r->fingerprint,
		 (unsigned long long)r->link_id, r->code);
	must(w->f, redis_command(w->f->server.redis, 3, argv, NULL, &reply,
				 &w->f->err));
	freeReplyObject(reply);
}

static inline void forget_keys(struct creation_world *w, const char *pattern)
{
	char words[64];
	redisReply *keys, *reply;
	const char *argv[] = {"DEL", NULL};

	snprintf(words, sizeof(words), "KEYS %s", pattern);
	keys = redis_server_ask(&w->f->server, words);
	for (size_t i = 0; i < keys->elements; i++) {
		argv[1] = keys->element[i]->str;
		must(w->f, redis_command(w->f->server.redis, 2, argv, NULL,
					 &reply, &w->f->err));
		freeReplyObject(reply);
	}
	freeReplyObject(keys);
}

/* Returns how many lines of the audit report a created link. */
static inline size_t count_audit_lines(struct creation_world *w)
{
	size_t lines = 0;
	FILE *file;
	int c;

	audit_free(w->context.audit, 5000);
	w->context.audit = NULL;
	file = fopen(w->audit_path, "r");
	assert_non_null(file);
	while ((c = getc(file)) != EOF)
		lines += c == '\n';
	fclose(file);
	return lines;
}

#endif
