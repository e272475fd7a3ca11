#include "common/http/listener.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/http/address.h"
#include "common/http/connection.h"
#include "common/http/http_metrics.h"
#include "common/http/proxied.h"
#include "common/http/request_pool.h"
#include "common/ip.h"

#define ACCEPTS_PER_TURN 64
/* The pause after running out of descriptors. */
#define ACCEPT_PAUSE_MS 100
/* The time to answer requests that came just before idle connections were to be
 * closed. */
#define LAST_ANSWERS_MS 500

/* --- accepting ------------------------------------------------------------ */

static void start_connection(struct http_listener *l, int fd,
			     struct sockaddr_storage *peer)
{
	size_t max = (size_t)l->config->max_connections;
	struct error err;

	metric_add(l->metrics.accepted, 1);
	if (l->connection_count >= max)
		(void)connection_make_room(l);
	/* Sending a 503 takes a connection too: a few are reserved for that. */
	if (l->connection_count >= max + max / 16 + 16) {
		http_metrics_refused(&l->metrics, 503);
		close(fd);
		return;
	}
	/* An IPv4 client of an IPv6 socket is an IPv4 client. */
	ip_unmap_peer(peer);
	if (l->proxies && proxied_is_expected(l, peer)) {
		proxied_begin(l, fd, peer);
		return;
	}
	/* A connection that cannot be made is closed. */
	(void)connection_new(l, fd, peer, l->connection_count >= max, &err);
}

static void on_acceptable(void *arg, uint32_t events);

static int start_accepting(struct acceptor *a, struct error *err)
{
	uint32_t events = EPOLLIN | (a->shared ? EPOLLEXCLUSIVE : 0);

	a->watch = loop_watch_fd(a->listener->loop, a->fd, events,
				 on_acceptable, a, err);
	return a->watch ? 0 : -1;
}

static void stop_accepting(struct acceptor *a)
{
	loop_watch_free(a->watch);
	a->watch = NULL;
}

static void stop_accepting_all(struct http_listener *l)
{
	stop_accepting(&l->own);
	for (struct acceptor *a = l->shared; a; a = a->next)
		stop_accepting(a);
}

static void pause_accepting(struct http_listener *l)
{
	stop_accepting_all(l);
	loop_timer_set(l->pause, ACCEPT_PAUSE_MS);
}

/* Accepts again, or retries a little later. */
static void restart_acceptor(struct acceptor *a)
{
	struct error ignored;

	if (a->fd >= 0 && !a->watch && start_accepting(a, &ignored) < 0)
		loop_timer_set(a->listener->pause, ACCEPT_PAUSE_MS);
}

static void resume_accepting(void *arg)
{
	struct http_listener *l = arg;

	if (!l->open)
		return;
	restart_acceptor(&l->own);
	for (struct acceptor *a = l->shared; a; a = a->next)
		restart_acceptor(a);
}

void http_listener_open(struct http_listener *l)
{
	l->open = true;
	resume_accepting(l);
}

static bool is_waited_at(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return poll(&one, 1, 0) > 0 && (one.revents & POLLIN);
}

/* Closes an idle connection to free its descriptor.  Only if a client waits:
 * the kernel allocates a descriptor before it checks for clients. */
static bool find_descriptor(struct acceptor *a)
{
	if (!is_waited_at(a->fd))
		return false;
	if (connection_make_room(a->listener))
		return true;
	pause_accepting(a->listener);
	return false;
}

/* Returns false if no client waits, or there is no descriptor. */
static bool accept_one(struct acceptor *a)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	int fd;

	memset(&peer, 0, sizeof(peer));
	fd = accept4(a->fd, (struct sockaddr *)&peer, &len,
		     SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		start_connection(a->listener, fd, &peer);
		return true;
	}
	if (errno == EMFILE || errno == ENFILE)
		return find_descriptor(a);
	if (errno == ENOBUFS || errno == ENOMEM)
		pause_accepting(a->listener);
	return errno == EINTR || errno == ECONNABORTED;
}

/*
 * The kernel wakes the first thread that waits at a socket, and keeps it first:
 * one thread would get all connections that come one after the other.  So each
 * thread takes one, and then waits as the last again.
 */
static void take_turn(struct acceptor *a)
{
	if (!accept_one(a) || !a->watch)
		return;
	stop_accepting(a);
	restart_acceptor(a);
}

static void on_acceptable(void *arg, uint32_t events)
{
	struct acceptor *a = arg;
	int i;

	(void)events;
	if (a->shared) {
		take_turn(a);
		return;
	}
	for (i = 0; i < ACCEPTS_PER_TURN; i++) {
		if (!accept_one(a))
			return;
	}
}

/* Accepts at most a full backlog: each client may be answered at once, and
 * under load new ones would come without end. */
static void accept_those_waiting(struct acceptor *a)
{
	for (int i = 0; i < SOCKET_BACKLOG && a->fd >= 0; i++) {
		if (!accept_one(a))
			return;
	}
}

void http_listener_accept_waiting(struct http_listener *l, int fd)
{
	struct acceptor a = {.listener = l, .fd = fd, .shared = true};

	accept_those_waiting(&a);
}

/* --- draining ------------------------------------------------------------- */

static void retire_all(struct http_listener *l)
{
	struct connection *conn, *next;

	for (conn = l->connections; conn; conn = next) {
		next = conn->next;
		connection_retire(conn);
	}
}

static void on_drained(void *arg)
{
	struct http_listener *l = arg;
	void (*done)(void *) = l->drained;

	if (l->patient && l->connection_count > 0) {
		l->patient = false;
		retire_all(l);
		loop_timer_set(l->drain_timer,
			       l->connection_count ? LAST_ANSWERS_MS : 0);
		return;
	}
	l->drained = NULL;
	if (done)
		done(l->drained_arg);
}

static void close_acceptor(struct acceptor *a)
{
	if (a->fd < 0)
		return;
	stop_accepting(a);
	if (!a->shared)
		close(a->fd);
	a->fd = -1;
}

static void close_acceptors(struct http_listener *l)
{
	l->open = false;
	close_acceptor(&l->own);
	for (struct acceptor *a = l->shared; a; a = a->next)
		close_acceptor(a);
}

/* Accepts the connections that still wait: closing would reset them. */
static void accept_last_of_all(struct http_listener *l)
{
	accept_those_waiting(&l->own);
	for (struct acceptor *a = l->shared; a; a = a->next)
		accept_those_waiting(a);
}

static void wait_for_last(struct http_listener *l, int64_t timeout_ms,
			  void (*done)(void *arg), void *arg)
{
	l->drained = done;
	l->drained_arg = arg;
	loop_timer_set(l->drain_timer, connection_awaited(l) ? timeout_ms : 0);
}

void http_listener_drain(struct http_listener *l, int64_t timeout_ms,
			 void (*done)(void *arg), void *arg)
{
	l->draining = true;
	l->winding_down = false;
	/* A listener that is not open yet leaves them to others. */
	if (l->open)
		accept_last_of_all(l);
	close_acceptors(l);
	proxied_finish_all(l);
	retire_all(l);
	wait_for_last(l, timeout_ms, done, arg);
}

void http_listener_stop_accepting(struct http_listener *l)
{
	close_acceptors(l);
}

void http_listener_leave(struct http_listener *l, int64_t timeout_ms,
			 void (*done)(void *arg), void *arg)
{
	l->draining = l->patient = true;
	l->winding_down = false;
	close_acceptors(l);
	wait_for_last(l, timeout_ms, done, arg);
}

void http_listener_wind_down(struct http_listener *l, int64_t timeout_ms,
			     void (*done)(void *arg), void *arg)
{
	l->draining = l->winding_down = true;
	l->early_count = 0;
	for (struct connection *conn = l->connections; conn;
	     conn = conn->next) {
		conn->early = true;
		l->early_count++;
	}
	wait_for_last(l, timeout_ms, done, arg);
}

/* --- life ----------------------------------------------------------------- */

/* Sets TCP_NODELAY, which connections inherit: an answer leaves in one
 * write. */
static void send_at_once(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static int make_timers(struct http_listener *l, struct error *err)
{
	l->drain_timer = loop_timer_new(l->loop, on_drained, l, err);
	if (!l->drain_timer)
		return -1;
	l->pause = loop_timer_new(l->loop, resume_accepting, l, err);
	return l->pause ? 0 : -1;
}

struct http_listener *http_listener_new_at(struct loop *loop, int fd,
					   const struct http_config *config,
					   http_handler *handler, void *arg,
					   struct metrics *metrics,
					   const char *name, struct error *err)
{
	struct http_listener *l = calloc(1, sizeof(*l));

	if (!l) {
		if (fd >= 0)
			close(fd);
		error_set_nomem(err);
		return NULL;
	}
	*l = (struct http_listener){.loop = loop,
				    .config = config,
				    .handler = handler,
				    .arg = arg,
				    .own = {.listener = l, .fd = fd}};
	if (make_timers(l, err) < 0) {
		http_listener_free(l);
		return NULL;
	}
	if (fd >= 0)
		send_at_once(fd);
	http_metrics_register(&l->metrics, metrics, name, config);
	return l;
}

struct http_listener *http_listener_new(struct loop *loop, const char *address,
					const struct http_config *config,
					http_handler *handler, void *arg,
					struct metrics *metrics,
					const char *name, struct error *err)
{
	struct http_listener *l;
	int fd;

	if (address_bind(address, true, &fd, err) < 0)
		return NULL;
	l = http_listener_new_at(loop, fd, config, handler, arg, metrics, name,
				 err);
	if (!l)
		return NULL;
	l->open = true;
	if (start_accepting(&l->own, err) < 0) {
		http_listener_free(l);
		return NULL;
	}
	return l;
}

void http_listener_admit(struct http_listener *l, http_admit *admit)
{
	l->admit = admit;
}

void http_listener_fields(struct http_listener *l, http_fields *fields)
{
	l->fields = fields;
}

void http_listener_expect_proxy(struct http_listener *l,
				const struct network_list *from,
				http_proxy_refused *refused, void *arg)
{
	l->proxies = from;
	l->proxy_refused = refused;
	l->proxy_arg = arg;
}

int http_listener_share(struct http_listener *l, int fd, struct error *err)
{
	struct acceptor *a = calloc(1, sizeof(*a));

	if (!a)
		return error_set_nomem(err);
	*a = (struct acceptor){.listener = l, .fd = fd, .shared = true};
	a->next = l->shared;
	l->shared = a;
	send_at_once(fd);
	return l->open ? start_accepting(a, err) : 0;
}

uint16_t http_listener_port(const struct http_listener *l)
{
	struct sockaddr_storage address = {0};
	socklen_t len = sizeof(address);
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (getsockname(l->own.fd, (struct sockaddr *)&address, &len) < 0)
		return 0;
	if (address.ss_family == AF_INET6) {
		memcpy(&six, &address, sizeof(six));
		return ntohs(six.sin6_port);
	}
	memcpy(&four, &address, sizeof(four));
	return ntohs(four.sin_port);
}

void http_listener_free(struct http_listener *l)
{
	struct http_request *req;
	struct acceptor *a;

	if (!l)
		return;
	l->drained = NULL;
	proxied_close_all(l);
	while (l->connections)
		connection_close(l->connections);
	close_acceptors(l);
	while ((a = l->shared)) {
		l->shared = a->next;
		free(a);
	}
	while ((req = l->pool)) {
		l->pool = req->next_free;
		request_pool_free(req);
	}
	loop_timer_free(l->drain_timer);
	loop_timer_free(l->pause);
	free(l);
}
