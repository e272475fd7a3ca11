#include "redirector/server.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/http/serving_thread.h"
#include "common/ip.h"
#include "common/network_list.h"
#include "common/wake.h"
#include "linkstore/space/space_monitor.h"

/* Timeout for a thread's answer to a short task, enough on a busy host. */
#define TELL_MS CLOCK_MINUTE

struct server {
	struct server_context context;
	const struct request_handler *handler;
	void *state; /* the handler's */
	struct serving_thread serving;
	struct servers *all;
	int64_t timeout;
};

struct servers {
	struct redirector *redirector;
	struct sockets *sockets;
	struct http_config http; /* for visitors */
	pthread_mutex_t lock;
	pthread_cond_t told;
	size_t done;  /* threads that have done their task */
	size_t count; /* threads that were made */
	struct server *items[];
};

/* --- making --------------------------------------------------------------- */

static void on_redis(void *arg, bool up, const struct error *err)
{
	struct server *s = arg;

	redirector_redis_changed(
		s->context.redirector, s->context.number,
		up ? redis_async_run_id(s->context.redis) : NULL, err);
	if (up)
		s->handler->on_connected(s->state, LOOKUP_MASTER);
	else
		s->handler->on_redis_lost(s->state);
}

static void on_replica(void *arg, bool anew, const char *why)
{
	struct server *s = arg;

	lookup_health_replica(s->context.redirector->lookups, s->context.number,
			      why);
	if (anew)
		s->handler->on_connected(s->state, LOOKUP_REPLICA);
}

static void on_turn_end(void *arg)
{
	struct server *s = arg;

	s->handler->on_turn_end(s->state);
}

static void on_failure(void *arg, const struct error *err)
{
	const struct server *s = arg;

	log_error(s->context.redirector->log, "a thread has stopped",
		  log_err(err));
}

static void server_free(struct server *s)
{
	if (!s)
		return;
	if (s->context.number == 0)
		space_monitor_stop(s->context.redirector->spaces);
	/* Freed before the others, which are needed to answer what is under
	 * way.  Queries of a replica that end here go to the master. */
	replica_stop(s->context.replica);
	redis_async_free(s->context.redis);
	replica_free(s->context.replica);
	http_listener_free(s->serving.listener);
	s->handler->destroy(s->state);
	loop_free(s->context.loop);
	free(s);
}

static void on_proxy_refused(const struct sockaddr_storage *peer,
			     const char *why, void *arg)
{
	struct redirector *r = arg;
	struct address address = address_of_peer(peer);
	char text[INET6_ADDRSTRLEN];
	const char *from = address_text(&address, text);
	int64_t left_out;

	if (!log_pace_allows(&r->headers_rejected, &left_out))
		return;
	log_warn(r->log, "PROXY header rejected",
		 log_str("peer", from ? from : "unix"), log_str("reason", why),
		 log_int("left_out", left_out));
}

static int make_listener(struct server *s, struct error *err)
{
	struct redirector *r = s->context.redirector;
	struct sockets *sockets = s->all->sockets;
	const int *shared;
	size_t count = sockets_shared(sockets, &shared);

	s->serving.listener = http_listener_new_at(
		s->context.loop, sockets_take_own(sockets, s->context.number),
		&s->all->http, s->handler->on_request, s->state, r->registry,
		"redirector", err);
	if (!s->serving.listener)
		return -1;
	if (r->proxy_protocol)
		http_listener_expect_proxy(s->serving.listener,
					   r->proxy_protocol, on_proxy_refused,
					   r);
	for (size_t i = 0; i < count; i++) {
		if (http_listener_share(s->serving.listener, shared[i], err) <
		    0)
			return -1;
	}
	return 0;
}

static int make_hooks(struct server *s, struct error *err)
{
	if (loop_on_turn_end(s->context.loop, on_turn_end, s, err) < 0)
		return -1;
	/* The first thread checks the spaces for all. */
	if (s->context.number != 0)
		return 0;
	return space_monitor_start(s->context.redirector->spaces,
				   s->context.loop, s->context.redis, err);
}

/* Each thread begins with another replica. */
static int make_replica(struct server *s, struct error *err)
{
	const struct server_context *c = &s->context;
	const struct redirector_config *config = c->redirector->config;
	const struct replica_options options = {
		.loop = c->loop,
		.config = &config->redis,
		.master = c->redis,
		.first = c->redirector->first_replica + c->number,
		.lag_max = config->redirector.replica_lag_max,
		.on_state = on_replica,
		.arg = s,
	};

	if (!redis_has_replicas(&config->redis))
		return 0;
	s->context.replica = replica_new(&options, err);
	return s->context.replica ? 0 : -1;
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
	if (!c->redis || make_replica(s, err) < 0)
		return -1;
	s->serving.loop = c->loop;
	s->serving.on_failure = on_failure;
	s->serving.arg = s;
	s->state = s->handler->create(c, err);
	if (!s->state || make_listener(s, err) < 0)
		return -1;
	return make_hooks(s, err);
}

static struct server *server_new(struct servers *all,
				 const struct request_handler *handler,
				 struct error *err)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->all = all;
	s->context.redirector = all->redirector;
	s->context.number = (unsigned)all->count;
	s->handler = handler;
	if (make_parts(s, err) < 0) {
		server_free(s);
		return NULL;
	}
	return s;
}

/* Limits bodies to the size of headers: the body of a visit is never read, and
 * it is kept in memory before the client is checked. */
static struct http_config config_of_visitors(const struct http_config *general)
{
	struct http_config config = *general;

	if (config.max_body_bytes > config.max_header_bytes)
		config.max_body_bytes = config.max_header_bytes;
	return config;
}

struct servers *servers_new(struct redirector *r, struct sockets *sockets,
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
	all->sockets = sockets;
	all->http = config_of_visitors(&r->config->http);
	pthread_mutex_init(&all->lock, NULL);
	errno = wake_init(&all->told);
	if (errno) {
		error_set_errno(err, "cannot make threads");
		free(all);
		return NULL;
	}
	for (; all->count < r->threads; all->count++) {
		struct server *s = server_new(all, handler, err);

		if (!s) {
			servers_free(all);
			return NULL;
		}
		all->items[all->count] = s;
	}
	return all;
}

/* --- running -------------------------------------------------------------- */

int servers_start(struct servers *all, struct error *err)
{
	for (size_t i = 0; i < all->count; i++) {
		if (serving_thread_start(&all->items[i]->serving, err) < 0)
			return -1;
	}
	return 0;
}

/* Reports that this thread has done its task. */
static void report_task_done(void *arg)
{
	struct servers *all = ((struct server *)arg)->all;

	pthread_mutex_lock(&all->lock);
	all->done++;
	pthread_cond_signal(&all->told);
	pthread_mutex_unlock(&all->lock);
}

/* Returns false on a timeout. */
static bool wait_until_told(struct servers *all, size_t count,
			    int64_t timeout_ms)
{
	int64_t until = clock_monotonic_ms() + timeout_ms;
	bool told;

	pthread_mutex_lock(&all->lock);
	while (all->done < count && wake_wait(&all->told, &all->lock, until))
		;
	told = all->done >= count;
	pthread_mutex_unlock(&all->lock);
	return told;
}

/* Runs `fn` on every thread, and waits until all have reported. */
static int on_each(struct servers *all, void (*fn)(void *arg),
		   int64_t timeout_ms, struct error *err)
{
	pthread_mutex_lock(&all->lock);
	all->done = 0;
	pthread_mutex_unlock(&all->lock);
	for (size_t i = 0; i < all->count; i++) {
		struct server *s = all->items[i];

		if (loop_post(s->context.loop, fn, s, err) < 0)
			return -1;
	}
	if (!wait_until_told(all, all->count, timeout_ms))
		return error_set(err, ERROR_SYSTEM, "a thread has stopped");
	return 0;
}

static void open_server(void *arg)
{
	struct server *s = arg;
	const int *fds;
	size_t count = 0;

	http_listener_open(s->serving.listener);
	if (s->context.number == 0)
		count = sockets_leftover(s->all->sockets, &fds);
	for (size_t i = 0; i < count; i++)
		http_listener_accept_waiting(s->serving.listener, fds[i]);
	report_task_done(s);
}

int servers_open(struct servers *all, struct error *err)
{
	const struct redirector *r = all->redirector;

	if (on_each(all, open_server, TELL_MS, err) < 0)
		return -1;
	sockets_close_leftover(all->sockets);
	log_info(r->log, "listening",
		 log_str("address", r->config->redirector.listen),
		 log_int("threads", (int64_t)all->count),
		 log_str("edge", r->edge));
	if (r->config->redirector.listen_unix)
		log_info(r->log, "listening",
			 log_str("address", r->config->redirector.listen_unix));
	return 0;
}

/* --- ending --------------------------------------------------------------- */

static void end_threads(struct servers *all, serving_end *end,
			int64_t timeout_ms)
{
	for (size_t i = 0; i < all->count; i++) {
		all->items[i]->serving.end = end;
		all->items[i]->serving.drain_timeout = timeout_ms;
		serving_thread_drain(&all->items[i]->serving);
	}
	for (size_t i = 0; i < all->count; i++) {
		struct server *s = all->items[i];

		if (!s->serving.running)
			continue;
		serving_thread_join(&s->serving);
		on_turn_end(s);
	}
}

void servers_drain(struct servers *all, int64_t timeout_ms)
{
	/* No client can connect any more; each thread accepts some of those
	 * that wait. */
	sockets_unlink(all->sockets);
	end_threads(all, http_listener_drain, timeout_ms);
}

static void stop_accepting(void *arg)
{
	struct server *s = arg;

	http_listener_stop_accepting(s->serving.listener);
	report_task_done(s);
}

int servers_stop_accepting(struct servers *all, struct error *err)
{
	return on_each(all, stop_accepting, TELL_MS, err);
}

void servers_leave(struct servers *all, int64_t timeout_ms)
{
	end_threads(all, http_listener_leave, timeout_ms);
}

static void wind_down(void *arg)
{
	struct server *s = arg;

	http_listener_wind_down(s->serving.listener, s->timeout,
				report_task_done, s);
}

void servers_wind_down(struct servers *all, int64_t timeout_ms)
{
	struct error ignored;

	for (size_t i = 0; i < all->count; i++)
		all->items[i]->timeout = timeout_ms;
	/* A thread that has failed, or cannot be reached, is skipped. */
	(void)on_each(all, wind_down, timeout_ms + TELL_MS, &ignored);
}

void servers_free(struct servers *all)
{
	if (!all)
		return;
	end_threads(all, http_listener_drain, 0);
	for (size_t i = 0; i < all->count; i++)
		server_free(all->items[i]);
	pthread_mutex_destroy(&all->lock);
	pthread_cond_destroy(&all->told);
	free(all);
}
