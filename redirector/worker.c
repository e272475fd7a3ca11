#include "redirector/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "redirector/space_guard.h"

struct worker {
	struct worker_context context;
	const struct request_handler *handler;
	void *state; /* the handler's */
	struct http_listener *listener;
	int64_t drain_timeout;
	pthread_t thread;
	bool running;
};

struct workers {
	struct redirector *redirector;
	size_t count; /* that were made */
	struct worker *items[];
};

/* --- making ----------------------------------------------------------------
 */

static void on_redis(void *arg, bool up, const struct error *err)
{
	struct worker *w = arg;

	redirector_redis_changed(w->context.redirector, w->context.number, up,
				 err);
}

static void on_turn_end(void *arg)
{
	struct worker *w = arg;

	w->handler->on_turn_end(w->state);
}

static void worker_free(struct worker *w)
{
	if (!w)
		return;
	/* Redis first: what is in flight is answered through the others. */
	redis_async_free(w->context.redis);
	if (w->context.number == 0)
		space_guard_stop(w->context.redirector->spaces);
	http_listener_free(w->listener);
	w->handler->destroy(w->state);
	loop_free(w->context.loop);
	free(w);
}

static int make_listener(struct worker *w, struct error *err)
{
	const struct redirector *r = w->context.redirector;
	const struct redirector_config *config = r->config;

	w->listener =
		http_listener_new(w->context.loop, config->redirector.listen,
				  &config->http, w->handler->on_request,
				  w->state, r->registry, "redirector", err);
	if (!w->listener ||
	    loop_on_turn_end(w->context.loop, on_turn_end, w, err) < 0)
		return -1;
	/* One of them keeps the watch over the spaces for all. */
	if (w->context.number != 0)
		return 0;
	return space_guard_start(r->spaces, w->context.loop, w->context.redis,
				 config->redirector.cursor_every, err);
}

static int make_parts(struct worker *w, struct error *err)
{
	struct worker_context *c = &w->context;

	c->loop = loop_new(err);
	if (!c->loop)
		return -1;
	c->redis = redis_async_new(c->loop, &c->redirector->config->redis,
				   on_redis, w, err);
	if (!c->redis)
		return -1;
	w->state = w->handler->create(c, err);
	return w->state ? make_listener(w, err) : -1;
}

static struct worker *worker_new(struct redirector *r, unsigned number,
				 const struct request_handler *handler,
				 struct error *err)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->context.redirector = r;
	w->context.number = number;
	w->handler = handler;
	if (make_parts(w, err) < 0) {
		worker_free(w);
		return NULL;
	}
	return w;
}

struct workers *workers_new(struct redirector *r,
			    const struct request_handler *handler,
			    struct error *err)
{
	struct workers *all =
		calloc(1, sizeof(*all) + r->threads * sizeof(all->items[0]));

	if (!all) {
		error_set_nomem(err);
		return NULL;
	}
	all->redirector = r;
	for (; all->count < r->threads; all->count++) {
		struct worker *w =
			worker_new(r, (unsigned)all->count, handler, err);

		if (!w) {
			workers_free(all);
			return NULL;
		}
		all->items[all->count] = w;
	}
	return all;
}

/* --- running ---------------------------------------------------------------
 */

static void *run(void *arg)
{
	struct worker *w = arg;
	struct error err;

	if (loop_run(w->context.loop, &err) < 0)
		log_error(w->context.redirector->log, "a thread has stopped",
			  log_err(&err));
	return NULL;
}

int workers_start(struct workers *all, struct error *err)
{
	const struct redirector *r = all->redirector;

	for (size_t i = 0; i < all->count; i++) {
		struct worker *w = all->items[i];

		errno = pthread_create(&w->thread, NULL, run, w);
		if (errno != 0)
			return error_set_errno(err, "cannot start a thread");
		w->running = true;
	}
	log_info(r->log, "listening",
		 log_str("address", r->config->redirector.listen),
		 log_int("threads", (int64_t)all->count),
		 log_str("edge", r->edge));
	return 0;
}

static void on_drained(void *arg)
{
	struct worker *w = arg;

	loop_stop(w->context.loop);
}

static void drain(void *arg)
{
	struct worker *w = arg;

	http_listener_drain(w->listener, w->drain_timeout, on_drained, w);
}

void workers_drain(struct workers *all, int64_t timeout_ms)
{
	struct error ignored;

	for (size_t i = 0; i < all->count; i++) {
		struct worker *w = all->items[i];

		w->drain_timeout = timeout_ms;
		if (loop_post(w->context.loop, drain, w, &ignored) < 0)
			loop_stop(w->context.loop);
	}
	for (size_t i = 0; i < all->count; i++) {
		struct worker *w = all->items[i];

		if (!w->running)
			continue;
		pthread_join(w->thread, NULL);
		w->running = false;
		on_turn_end(w);
	}
}

void workers_free(struct workers *all)
{
	if (!all)
		return;
	workers_drain(all, 0);
	for (size_t i = 0; i < all->count; i++)
		worker_free(all->items[i]);
	free(all);
}
