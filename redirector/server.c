#include "redirector/server.h"

#include <stdlib.h>

#include "common/http/serving_thread.h"
#include "common/http/unix_socket.h"
#include "common/ip.h"
#include "common/network_list.h"
#include "linkstore/space/space_monitor.h"

struct server {
	struct server_context context;
	const struct request_handler *handler;
	void *state; /* the handler's */
	struct serving_thread serving;
};

struct servers {
	struct redirector *redirector;
	struct unix_socket *socket; /* that all accept on; NULL: none */
	size_t count;		    /* that were made */
	struct server *items[];
};

/* --- making ----------------------------------------------------------------
 */

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
	/* Before the others: what is in flight is answered through them.  What
	 * a replica owes is asked of the master. */
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

static int make_listener(struct server *s, const struct unix_socket *socket,
			 struct error *err)
{
	struct redirector *r = s->context.redirector;
	const struct redirector_config *config = r->config;

	s->serving.listener =
		http_listener_new(s->context.loop, config->redirector.listen,
				  &config->http, s->handler->on_request,
				  s->state, r->registry, "redirector", err);
	if (!s->serving.listener)
		return -1;
	if (r->proxy_protocol)
		http_listener_expect_proxy(s->serving.listener,
					   r->proxy_protocol, on_proxy_refused,
					   r);
	if (socket && http_listener_share(s->serving.listener,
					  unix_socket_fd(socket), err) < 0)
		return -1;
	if (loop_on_turn_end(s->context.loop, on_turn_end, s, err) < 0)
		return -1;
	/* One of them checks the spaces for all. */
	if (s->context.number != 0)
		return 0;
	return space_monitor_start(r->spaces, s->context.loop, s->context.redis,
				   err);
}

/* Threads begin with different ones. */
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

	if (!config->redis.replicas.count)
		return 0;
	s->context.replica = replica_new(&options, err);
	return s->context.replica ? 0 : -1;
}

static int make_parts(struct server *s, const struct unix_socket *socket,
		      struct error *err)
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
	return s->state ? make_listener(s, socket, err) : -1;
}

static struct server *server_new(const struct servers *all,
				 const struct request_handler *handler,
				 struct error *err)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->context.redirector = all->redirector;
	s->context.number = (unsigned)all->count;
	s->handler = handler;
	if (make_parts(s, all->socket, err) < 0) {
		server_free(s);
		return NULL;
	}
	return s;
}

static int make_socket(struct servers *all, struct error *err)
{
	const struct redirector_settings *settings =
		&all->redirector->config->redirector;

	if (!settings->listen_unix)
		return 0;
	all->socket =
		unix_socket_new(settings->listen_unix,
				(unsigned)redirector_unix_mode(settings), err);
	return all->socket ? 0 : -1;
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
	if (make_socket(all, err) < 0) {
		servers_free(all);
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

/* --- running ---------------------------------------------------------------
 */

int servers_start(struct servers *all, struct error *err)
{
	const struct redirector *r = all->redirector;

	for (size_t i = 0; i < all->count; i++) {
		if (serving_thread_start(&all->items[i]->serving, err) < 0)
			return -1;
	}
	log_info(r->log, "listening",
		 log_str("address", r->config->redirector.listen),
		 log_int("threads", (int64_t)all->count),
		 log_str("edge", r->edge));
	if (all->socket)
		log_info(r->log, "listening",
			 log_str("address", r->config->redirector.listen_unix));
	return 0;
}

void servers_drain(struct servers *all, int64_t timeout_ms)
{
	/* Nobody else connects; each thread takes of those that wait. */
	if (all->socket)
		unix_socket_unlink(all->socket);
	for (size_t i = 0; i < all->count; i++) {
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

void servers_free(struct servers *all)
{
	if (!all)
		return;
	servers_drain(all, 0);
	for (size_t i = 0; i < all->count; i++)
		server_free(all->items[i]);
	unix_socket_free(all->socket);
	free(all);
}
