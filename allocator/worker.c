#include "allocator/worker.h"

#include <errno.h>
#include <stdlib.h>

#include "linkstore/block/link_writer.h"
#include "linkstore/space/ledger.h"
#include "linkstore/space/lift.h"

enum {
	COUNT_EVERY_MS = 2000 /* links created, to the day's ledger */
};

struct worker {
	struct shared *shared;
	unsigned index;
	struct loop *loop;
	struct redis_async *redis;
	struct link_writer *writer;
	struct block_pool *block_pool;
	struct http_listener *listener;
	struct loop_timer *count_timer;
	struct loop_timer *give_up_timer;
	struct api_context api;
	pthread_t thread;
	bool thread_runs;
	bool watches_spaces;
	bool redis_up;
};

/* --- Redis ------------------------------------------------------------ */

static void on_lifted(void *arg, const struct error *err)
{
	struct worker *w = arg;

	if (err && !err->retriable)
		log_error(w->shared->log, "Redis did not take what was seen",
			  log_err(err));
}

/* Before another allocator is granted what a Redis that forgot would grant
 * twice. */
static void tell_seen(struct worker *w)
{
	const struct linkstore *store = w->shared->store;
	const struct link_space *space;
	struct space_seen seen;
	struct error ignored;

	for (size_t i = 0; i < linkstore_space_count(store); i++) {
		space = linkstore_space(store, i);
		if (!link_space_has_blocks(space))
			continue;
		seen = seen_file_get(w->shared->seen, space);
		if (seen.cursor || seen.moves)
			space_lift_async(w->redis, space, &seen, on_lifted, w,
					 &ignored);
	}
}

static void on_redis_state(void *arg, bool up, const struct error *err)
{
	struct worker *w = arg;
	struct shared *s = w->shared;
	bool all_up, changed;

	pthread_mutex_lock(&s->redis_lock);
	s->redis_up += (unsigned)up - (unsigned)w->redis_up;
	w->redis_up = up;
	all_up = s->redis_up == (unsigned)s->config->allocator.threads;
	changed = all_up ? health_up(s->redis_check)
			 : health_down(s->redis_check,
				       err ? err->text
					   : "a thread is not connected yet");
	pthread_mutex_unlock(&s->redis_lock);
	if (up)
		tell_seen(w);
	if (changed && all_up)
		log_info(s->log, "Redis is there");
	else if (changed && err)
		log_warn(s->log, "Redis is away", log_err(err));
}

/* --- the ledger ------------------------------------------------------- */

static void send_counts(struct worker *w)
{
	const struct linkstore *store = w->shared->store;
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
	struct worker *w = arg;

	send_counts(w);
	loop_timer_set(w->count_timer, COUNT_EVERY_MS);
}

/* --- the end ---------------------------------------------------------- */

static void on_pool_closed(void *arg)
{
	struct worker *w = arg;

	loop_stop(w->loop);
}

static void on_give_up(void *arg)
{
	struct worker *w = arg;

	log_warn(w->shared->log, "blocks could not be handed back in time");
	loop_stop(w->loop);
}

static void on_drained(void *arg)
{
	struct worker *w = arg;

	if (w->watches_spaces)
		space_watch_stop(w->shared->spaces);
	if (w->watches_spaces && w->shared->ids)
		id_generator_stop(w->shared->ids);
	if (w->watches_spaces)
		redis_reserve_stop(w->shared->reserve);
	loop_timer_stop(w->count_timer);
	send_counts(w);
	loop_timer_set(w->give_up_timer,
		       w->shared->config->allocator.drain_timeout);
	block_pool_close(w->block_pool, on_pool_closed, w);
}

static void drain(void *arg)
{
	struct worker *w = arg;

	http_listener_drain(w->listener,
			    w->shared->config->allocator.drain_timeout,
			    on_drained, w);
}

/* --- life ------------------------------------------------------------- */

static int open_block_pool(struct worker *w, struct error *err)
{
	struct shared *s = w->shared;
	const struct block_pool_options options = {
		.loop = w->loop,
		.redis = w->redis,
		.store = s->store,
		.name = s->holder,
		.waiting_max = (size_t)s->config->allocator.waiting_max,
		.metrics = &s->block_pool_metrics,
		.seen = s->seen,
	};

	w->block_pool = block_pool_new(&options, err);
	return w->block_pool ? 0 : -1;
}

static int open_redis(struct worker *w, struct error *err)
{
	w->redis = redis_async_new(w->loop, &w->shared->config->redis,
				   on_redis_state, w, err);
	if (!w->redis)
		return -1;
	w->writer = link_writer_new(w->loop, w->redis, err);
	return w->writer ? 0 : -1;
}

static int open_timers(struct worker *w, struct error *err)
{
	w->count_timer = loop_timer_new(w->loop, on_count_timer, w, err);
	w->give_up_timer = loop_timer_new(w->loop, on_give_up, w, err);
	if (!w->count_timer || !w->give_up_timer)
		return -1;
	loop_timer_set(w->count_timer, COUNT_EVERY_MS);
	return 0;
}

static int fill_api(struct worker *w, struct error *err)
{
	struct shared *s = w->shared;
	const struct allocator_settings *settings = &s->config->allocator;

	w->api = (struct api_context){
		.keys = s->keys,
		.defaults = &s->defaults,
		.metrics = &s->api_metrics,
		.ledger = s->ledger,
		.loop = w->loop,
		.painters = s->painters,
		.openapi = &s->openapi,
		.creation = {.redis = w->redis,
			     .keys = s->keys,
			     .reserve = s->reserve,
			     .writer = w->writer,
			     .block_pool = w->block_pool,
			     .spaces = s->spaces,
			     .events = s->events,
			     .metrics = &s->creation_metrics,
			     .audit = s->audit,
			     .ids = s->ids,
			     .log = s->log,
			     .failures = &s->failures},
		.audit = s->audit,
		.batches = {.loop = w->loop,
			    .keys = s->keys,
			    .creation = &w->api.creation,
			    .defaults = &s->defaults,
			    .metrics = &s->batch_metrics,
			    .in_flight_max = (size_t)settings->batch_in_flight,
			    .bytes_max = (size_t)settings->batch_bytes,
			    .batches_max = (size_t)settings->batches_max,
			    .account_max =
				    (size_t)settings->batches_per_account,
			    .wait_max = settings->batch_wait_max,
			    .time_max = settings->batch_time_max},
	};
	w->api.creation.created = calloc(linkstore_space_count(s->store),
					 sizeof(w->api.creation.created[0]));
	return w->api.creation.created ? 0 : error_set_nomem(err);
}

static int listen_on(struct worker *w, struct error *err)
{
	const struct allocator_config *config = w->shared->config;

	w->listener = http_listener_new(w->loop, config->allocator.listen,
					&config->http, api_handle, &w->api,
					w->shared->metrics, "api", err);
	if (!w->listener)
		return -1;
	http_listener_stream(w->listener, api_streams, api_handle);
	http_listener_admit(w->listener, api_admit);
	return 0;
}

struct worker *worker_new(struct shared *shared, unsigned index,
			  struct error *err)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->shared = shared;
	w->index = index;
	w->loop = loop_new(err);
	if (!w->loop || open_redis(w, err) < 0 || open_block_pool(w, err) < 0 ||
	    open_timers(w, err) < 0 || fill_api(w, err) < 0 ||
	    listen_on(w, err) < 0)
		goto fail;
	if (index == 0 &&
	    space_watch_start(shared->spaces, w->loop, w->redis, err) < 0)
		goto fail;
	if (index == 0 && shared->ids &&
	    id_generator_start(shared->ids, w->loop, w->redis, err) < 0)
		goto fail;
	if (index == 0 &&
	    redis_reserve_start(shared->reserve, w->loop, w->redis, err) < 0)
		goto fail;
	w->watches_spaces = index == 0;
	return w;
fail:
	worker_free(w);
	return NULL;
}

/* What still waits for Redis is answered with an error as the connection goes,
 * so the listener that those answers pass through goes after it. */
void worker_free(struct worker *w)
{
	if (!w)
		return;
	link_writer_free(w->writer);
	redis_async_free(w->redis);
	block_pool_free(w->block_pool);
	http_listener_free(w->listener);
	loop_free(w->loop);
	buf_free(&w->api.answer);
	free(w->api.creation.created);
	free(w);
}

static void *run(void *arg)
{
	struct worker *w = arg;
	struct error err = {0};

	if (loop_run(w->loop, &err) < 0)
		log_error(w->shared->log, "a thread ended", log_err(&err));
	return NULL;
}

int worker_start(struct worker *w, struct error *err)
{
	errno = pthread_create(&w->thread, NULL, run, w);
	if (errno != 0)
		return error_set_errno(err, "cannot start a thread");
	w->thread_runs = true;
	return 0;
}

void worker_stop(struct worker *w)
{
	struct error err = {0};

	if (w->thread_runs && loop_post(w->loop, drain, w, &err) < 0)
		loop_stop(w->loop);
}

void worker_join(struct worker *w)
{
	if (w->thread_runs)
		pthread_join(w->thread, NULL);
	w->thread_runs = false;
}
