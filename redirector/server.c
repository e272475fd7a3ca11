#include "redirector/server.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "linkstore/space/space_monitor.h"

struct server {
	struct server_context context;
	const struct request_handler *handler;
	void *state; /* the handler's */
	struct http_listener *listener;
	int64_t drain_timeout;
	pthread_t thread;
	bool running;
};

struct servers {
	struct redirector *redirector;
	size_t count; /* that were made */
	struct server *items[];
};

/* --- making ----------------------------------------------------------------
 */

static void on_redis(void *arg, bool up, const struct error *err)
{
	struct server *s = arg;

	redirector_redis_changed(s->context.redirector, s->context.number, up,
				 err);
}

static void on_turn_end(void *arg)
{
	struct server *s = arg;

	s->handler->on_turn_end(s->state);
}

static void server_free(struct server *s)
{
	if (!s)
		return;
	if (s->context.number == 0)
		space_monitor_stop(s->context.redirector->spaces);
	/* Before the others: what is in flight is answered through them. */
	redis_async_free(s->context.redis);
	http_listener_free(s->listener);
	s->handler->destroy(s->state);
	loop_free(s->context.loop);
	free(s);
}

static int make_listener(struct server *s, struct error *err)
{
	const struct redirector *r = s->context.redirector;
	const struct redirector_config *config = r->config;

	s->listener =
		http_listener_new(s->context.loop, config->redirector.listen,
				  &config->http, s->handler->on_request,
				  s->state, r->registry, "redirector", err);
	if (!s->listener ||
	    loop_on_turn_end(s->context.loop, on_turn_end, s, err) < 0)
		return -1;
	/* One of them checks the spaces for all. */
	if (s->context.number != 0)
		return 0;
	return space_monitor_start(r->spaces, s->context.loop, s->context.redis,
				   err);
}

static int make_parts(struct server *s, struct error *err)
{
	struct server_context *c = &s->context;

	c->loop = loop_new(err);
	if (!c->loop)
		return -1;
	c->redis = redis_async_new(c->loop, &c->redirector->config->redis,
				   linkstore_scripts(c->redirector->store),
				   on_redis, s, err);
	if (!c->redis)
		return -1;
	s->state = s->handler->create(c, err);
	return s->state ? make_listener(s, err) : -1;
}

static struct server *server_new(struct redirector *r, unsigned number,
				 const struct request_handler *handler,
				 struct error *err)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->context.redirector = r;
	s->context.number = number;
	s->handler = handler;
	if (make_parts(s, err) < 0) {
		server_free(s);
		return NULL;
	}
	return s;
}

struct servers *servers_new(struct redirector *r,
			    const struct request_handler *handler,
			    struct error *err)
{
	struct servers *all =
		calloc(1, sizeof(*all) + r->threads * sizeof(all->items[0]));

	if (!all) {
		error_set_nomem(err);
		return NULL;
	}
	all->redirector = r;
	for (; all->count < r->threads; all->count++) {
		struct server *s =
			server_new(r, (unsigned)all->count, handler, err);

		if (!s) {
			servers_free(all);
			return NULL;
		}
		all->items[all->count] = s;
	}
	return all;
}

/* --- running ---------------------------------------------------------------
 */

static void *run(void *arg)
{
	struct server *s = arg;
	struct error err;

	if (loop_run(s->context.loop, &err) < 0)
		log_error(s->context.redirector->log, "a thread has stopped",
			  log_err(&err));
	return NULL;
}

int servers_start(struct servers *all, struct error *err)
{
	const struct redirector *r = all->redirector;

	for (size_t i = 0; i < all->count; i++) {
		struct server *s = all->items[i];

		errno = pthread_create(&s->thread, NULL, run, s);
		if (errno != 0)
			return error_set_errno(err, "cannot start a thread");
		s->running = true;
	}
	log_info(r->log, "listening",
		 log_str("address", r->config->redirector.listen),
		 log_int("threads", (int64_t)all->count),
		 log_str("edge", r->edge));
	return 0;
}

static void on_drained(void *arg)
{
	struct server *s = arg;

	loop_stop(s->context.loop);
}

static void drain(void *arg)
{
	struct server *s = arg;

	http_listener_drain(s->listener, s->drain_timeout, on_drained, s);
}

void servers_drain(struct servers *all, int64_t timeout_ms)
{
	struct error ignored;

	for (size_t i = 0; i < all->count; i++) {
		struct server *s = all->items[i];

		s->drain_timeout = timeout_ms;
		if (loop_post(s->context.loop, drain, s, &ignored) < 0)
			loop_stop(s->context.loop);
	}
	for (size_t i = 0; i < all->count; i++) {
		struct server *s = all->items[i];

		if (!s->running)
			continue;
		pthread_join(s->thread, NULL);
		s->running = false;
		on_turn_end(s);
	}
}

void servers_free(struct servers *all)
{
	if (!all)
		return;
	servers_drain(all, 0);
	for (size_t i = 0; i < all->count; i++)
		server_free(all->items[i]);
	free(all);
}
