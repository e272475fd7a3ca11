/*
 * `allocator serve`: the threads that serve the API.  Each has its own loop,
 * Redis connection and blocks.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "allocator/allocator.h"
#include "allocator/block_pool/block_pool.h"
#include "allocator/commands.h"
#include "common/http/serving_thread.h"
#include "common/loop/workers.h"
#include "linkstore/block/link_writer.h"
#include "linkstore/space/ledger.h"

enum {
	COUNT_EVERY_MS = 2000, /* interval of ledger updates */
	PAINTERS = 2,	       /* threads that draw QR codes */
	PICTURES_MAX = 64,     /* limit for waiting QR codes */
	/* Time for which ids may still be made, after the first thread has
	 * drained, for creates of the other threads.  A successor waits for
	 * them. */
	LATE_MS = 1000,
};

struct server;

struct serving_worker {
	struct server *server;
	struct allocator *allocator;
	struct serving_thread serving;
	struct redis_async *redis;
	struct url_checker *urls;
	struct link_writer *writer;
	struct block_pool *block_pool;
	struct loop_timer *count_timer;
	struct loop_timer *give_up_timer;
	struct loop_timer *late_timer;
	struct api_context api;
	bool is_first; /* runs the spaces, reserve and ids of all */
	bool finished;
	bool redis_up;
};

struct server {
	struct allocator *allocator;
	struct workers *painters;
	struct archive_reader *archive;
	atomic_size_t undrained; /* workers that still answer requests */
	size_t worker_count;
	struct serving_worker *workers[];
};

/* --- Redis ---------------------------------------------------------------- */

static void on_raised(void *arg, const struct error *err)
{
	struct serving_worker *w = arg;

	if (err && !err->retriable)
		log_error(w->allocator->log,
			  "high-water marks rejected by Redis", log_err(err));
}

/* Each thread sends the high water to Redis on its own connection before it
 * requests grants there.  So a Redis that lost data does not grant blocks
 * twice. */
static void on_redis_state(void *arg, bool up, const struct error *err)
{
	struct serving_worker *w = arg;

	allocator_redis_state(w->allocator, w->redis_up, up, err);
	w->redis_up = up;
	if (!up)
		return;
	space_monitor_tell(w->allocator->spaces, w->redis, on_raised, w);
	if (w->is_first && w->allocator->ids)
		id_generator_redis_up(w->allocator->ids);
}

/* --- ledger --------------------------------------------------------------- */

static void send_counts(struct serving_worker *w)
{
	const struct linkstore *store = w->allocator->store;
	uint64_t *count;
	struct error err = {0};

	for (size_t i = 0; i < linkstore_space_count(store); i++) {
		count = &w->api.creation.created[i];
		if (*count && space_count_created_async(
				      w->redis, linkstore_space(store, i),
				      *count, &err) == 0)
			*count = 0;
	}
}

static void on_count_timer(void *arg)
{
	struct serving_worker *w = arg;

	send_counts(w);
	loop_timer_set(w->count_timer, COUNT_EVERY_MS);
}

/* --- shutdown ------------------------------------------------------------- */

static void on_pool_closed(void *arg)
{
	struct serving_worker *w = arg;

	loop_stop(w->serving.loop);
}

static void on_give_up(void *arg)
{
	struct serving_worker *w = arg;

	log_warn(w->allocator->log, "blocks not handed back in time");
	loop_stop(w->serving.loop);
}

/* Stops the services of the first thread. */
static void stop_first(struct allocator *a)
{
	space_monitor_stop(a->spaces);
	if (a->ids)
		id_generator_stop(a->ids);
	redis_reserve_stop(a->reserve);
}

static void finish_worker(struct serving_worker *w)
{
	loop_timer_stop(w->count_timer);
	send_counts(w);
	loop_timer_set(w->give_up_timer,
		       w->allocator->config->allocator.drain_timeout);
	block_pool_close(w->block_pool, on_pool_closed, w);
}

/* Runs on the first thread when no other thread needs it, or after LATE_MS. */
static void finish_first(void *arg)
{
	struct serving_worker *w = arg;

	if (w->finished)
		return;
	w->finished = true;
	loop_timer_stop(w->late_timer);
	stop_first(w->allocator);
	finish_worker(w);
}

static void on_drained(void *arg)
{
	struct serving_worker *w = arg, *first = w->server->workers[0];
	bool is_last = atomic_fetch_sub(&w->server->undrained, 1) == 1;
	struct error err;

	if (!w->is_first) {
		/* If this fails, late_timer fires soon. */
		if (is_last)
			loop_post(first->serving.loop, finish_first, first,
				  &err);
		finish_worker(w);
	} else if (is_last) {
		finish_first(w);
	} else {
		loop_timer_set(w->late_timer, LATE_MS);
	}
}

/* --- start and stop ------------------------------------------------------- */

static int open_block_pool(struct serving_worker *w, struct error *err)
{
	struct allocator *a = w->allocator;
	const struct block_pool_options options = {
		.loop = w->serving.loop,
		.redis = w->redis,
		.store = a->store,
		.name = a->holder,
		.waiting_max = (size_t)a->config->allocator.waiting_max,
		.metrics = &a->counts.block_pool,
		.high_water_file = a->high_water_file,
	};

	w->block_pool = block_pool_new(&options, err);
	return w->block_pool ? 0 : -1;
}

static int open_redis(struct serving_worker *w, struct error *err)
{
	w->redis = redis_async_new(
		w->serving.loop, &w->allocator->config->redis,
		linkstore_scripts(w->allocator->store), on_redis_state, w, err);
	if (!w->redis)
		return -1;
	w->urls = url_checker_new(w->serving.loop, w->redis, err);
	if (!w->urls)
		return -1;
	w->writer = link_writer_new(w->serving.loop, w->redis, err);
	return w->writer ? 0 : -1;
}

static int open_timers(struct serving_worker *w, struct error *err)
{
	w->count_timer =
		loop_timer_new(w->serving.loop, on_count_timer, w, err);
	w->give_up_timer = loop_timer_new(w->serving.loop, on_give_up, w, err);
	w->late_timer = loop_timer_new(w->serving.loop, finish_first, w, err);
	if (!w->count_timer || !w->give_up_timer || !w->late_timer)
		return -1;
	loop_timer_set(w->count_timer, COUNT_EVERY_MS);
	return 0;
}

static int fill_api(struct serving_worker *w, struct error *err)
{
	struct allocator *a = w->allocator;
	const struct allocator_settings *settings = &a->config->allocator;

	w->api = (struct api_context){
		.keys = a->rules.keys,
		.defaults = &a->rules.defaults,
		.metrics = &a->counts.api,
		.ledger = a->ledger,
		.loop = w->serving.loop,
		.painters = w->server->painters,
		.archive = w->server->archive,
		.openapi = &a->openapi,
		.cors_origins = &settings->cors_origins,
		.creation = {.redis = w->redis,
			     .reserve = a->reserve,
			     .urls = w->urls,
			     .writer = w->writer,
			     .block_pool = w->block_pool,
			     .spaces = a->spaces,
			     .events = a->events,
			     .metrics = &a->counts.creation,
			     .audit = a->audit,
			     .ids = a->ids,
			     .log = a->log,
			     .failures = &a->failures},
		.audit = a->audit,
		.batches = {.loop = w->serving.loop,
			    .keys = a->rules.keys,
			    .creation = &w->api.creation,
			    .defaults = &a->rules.defaults,
			    .metrics = &a->counts.batch,
			    .in_flight_max = (size_t)settings->batch_in_flight,
			    .bytes_max = (size_t)settings->batch_bytes,
			    .batches_max = (size_t)settings->batches_max,
			    .account_max =
				    (size_t)settings->batches_per_account,
			    .wait_max = settings->batch_wait_max,
			    .time_max = settings->batch_time_max},
	};
	w->api.creation.created = calloc(linkstore_space_count(a->store),
					 sizeof(w->api.creation.created[0]));
	if (!w->api.creation.created)
		return error_set_nomem(err);
	return api_start(&w->api, err);
}

static int listen_on(struct serving_worker *w, struct error *err)
{
	const struct allocator_config *config = w->allocator->config;

	w->serving.listener = http_listener_new(
		w->serving.loop, config->allocator.listen, &config->http,
		api_handle, &w->api, w->allocator->metrics, "api", err);
	if (!w->serving.listener)
		return -1;
	http_listener_stream(w->serving.listener, api_streams, api_handle);
	http_listener_admit(w->serving.listener, api_admit);
	http_listener_fields(w->serving.listener, api_put_fields);
	return 0;
}

static int start_first(struct serving_worker *w, struct error *err)
{
	struct allocator *a = w->allocator;

	w->is_first = true;
	if (space_monitor_start(a->spaces, w->serving.loop, w->redis, err) <
		    0 ||
	    (a->ids &&
	     id_generator_start(a->ids, w->serving.loop, w->redis, err) < 0))
		return -1;
	return redis_reserve_start(a->reserve, w->serving.loop, w->redis, err);
}

/* Requests that still wait for Redis are answered with an error when the
 * connection is freed.  These answers need the listener, so it is freed
 * later. */
static void worker_free(struct serving_worker *w)
{
	if (!w)
		return;
	api_end(&w->api);
	link_writer_free(w->writer);
	redis_async_free(w->redis);
	url_checker_free(w->urls);
	block_pool_free(w->block_pool);
	http_listener_free(w->serving.listener);
	loop_free(w->serving.loop);
	api_free(&w->api);
	free(w->api.creation.created);
	free(w);
}

static void on_failure(void *arg, const struct error *err)
{
	const struct serving_worker *w = arg;

	log_error(w->allocator->log, "a serving thread ended", log_err(err));
}

/* Binds the port, but serves nothing yet. */
static struct serving_worker *worker_new(struct server *server, bool is_first,
					 struct error *err)
{
	struct serving_worker *w = calloc(1, sizeof(*w));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->server = server;
	w->allocator = server->allocator;
	w->serving = (struct serving_thread){
		.loop = loop_new(err),
		.drain_timeout =
			server->allocator->config->allocator.drain_timeout,
		.on_drained = on_drained,
		.on_failure = on_failure,
		.arg = w,
	};
	if (w->serving.loop && open_redis(w, err) == 0 &&
	    open_block_pool(w, err) == 0 && open_timers(w, err) == 0 &&
	    fill_api(w, err) == 0 && listen_on(w, err) == 0 &&
	    (!is_first || start_first(w, err) == 0))
		return w;
	worker_free(w);
	return NULL;
}

/* --- all threads ---------------------------------------------------------- */

static void server_free(struct server *s)
{
	if (!s)
		return;
	/* The painters and the archive use the workers' loops. */
	workers_free(s->painters);
	archive_reader_free(s->archive);
	for (size_t i = 0; i < s->worker_count; i++)
		s->workers[i]->api.archive = NULL;
	for (size_t i = 0; i < s->worker_count; i++)
		worker_free(s->workers[i]);
	free(s);
}

static struct server *server_new(struct allocator *a, struct error *err)
{
	size_t count = (size_t)a->config->allocator.threads;
	struct server *s =
		calloc(1, sizeof(*s) + count * sizeof(s->workers[0]));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->allocator = a;
	s->painters = workers_new(PAINTERS, PICTURES_MAX, err);
	if (!s->painters)
		goto fail;
	s->archive = archive_reader_new(&a->config->clickhouse, err);
	if (!s->archive)
		goto fail;
	for (; s->worker_count < count; s->worker_count++) {
		s->workers[s->worker_count] =
			worker_new(s, s->worker_count == 0, err);
		if (!s->workers[s->worker_count])
			goto fail;
	}
	return s;
fail:
	server_free(s);
	return NULL;
}

/* No link is made before the denied hosts are known; a program that has to end
 * notices that later. */
static int server_start(struct server *s, struct app *app, struct error *err)
{
	struct allocator *a = s->allocator;
	const struct allocator_settings *settings = &a->config->allocator;

	if (allocator_start_hosts(a, err) < 0 ||
	    ledger_watch_start(a->ledger, err) < 0)
		return -1;
	(void)denied_hosts_follower_await(a->rules.denied_hosts, app);
	for (size_t i = 0; i < s->worker_count; i++) {
		if (serving_thread_start(&s->workers[i]->serving, err) < 0)
			return -1;
	}
	log_info(
		a->log, "serving", log_str("address", settings->listen),
		log_int("threads", settings->threads),
		log_int("api_keys", (int64_t)api_keyring_count(a->rules.keys)));
	return 0;
}

/* Answers the requests in progress, hands untouched blocks back and ends the
 * threads. */
static void server_stop(struct server *s)
{
	atomic_store(&s->undrained, s->worker_count);
	for (size_t i = 0; i < s->worker_count; i++)
		serving_thread_drain(&s->workers[i]->serving);
	for (size_t i = 0; i < s->worker_count; i++)
		serving_thread_join(&s->workers[i]->serving);
}

static void on_reload(void *arg)
{
	allocator_reload(arg);
}

int command_serve(struct app *app, const void *config, struct error *err)
{
	const struct allocator_config *c = config;
	struct allocator *a = allocator_new(c, app, err);
	struct server *s = a ? server_new(a, err) : NULL;
	int status = -1;

	if (!s || app_serve_admin(app, c->allocator.admin, &c->http, err) < 0)
		goto out;
	if (server_start(s, app, err) == 0) {
		app_wait(app, on_reload, a);
		status = 0;
	}
	server_stop(s);
	if (allocator_drain(a, status < 0 ? &(struct error){0} : err) < 0)
		status = -1;
out:
	server_free(s);
	allocator_free(a);
	return status;
}
