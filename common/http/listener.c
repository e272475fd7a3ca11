#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/http/internal.h"

/* Requests kept for the next connection that needs one. */
#define POOL_MAX 256
/* A buffer that had to grow beyond this is not kept. */
#define POOLED_BUFFER_MAX 65536
#define ACCEPTS_PER_TURN  64
/* After running out of descriptors. */
#define ACCEPT_PAUSE_MS 100

/* --- the pool of requests ------------------------------------------------- */

struct http_request *request_acquire(struct http_listener *l)
{
	struct http_request *req = l->pool;
	size_t headers = (size_t)l->config->max_headers;

	if (req) {
		l->pool = req->next_free;
		l->pooled--;
		return req;
	}
	return calloc(1, sizeof(*req) + headers * sizeof(req->headers[0]));
}

void request_free(struct http_request *req)
{
	buf_free(&req->in);
	buf_free(&req->out);
	free(req);
}

static void trim(struct buf *b)
{
	if (b->cap > POOLED_BUFFER_MAX)
		buf_free(b);
	else
		buf_reset(b);
}

void request_release(struct http_listener *l, struct http_request *req)
{
	l->grown -= req->grown;
	metric_add(l->metrics.buffers, (uint64_t)0 - req->grown);
	if (l->pooled == POOL_MAX) {
		request_free(req);
		return;
	}
	trim(&req->in);
	trim(&req->out);
	*req = (struct http_request){
		.next_free = l->pool, .in = req->in, .out = req->out};
	l->pool = req;
	l->pooled++;
}

/* --- the date, once a second ---------------------------------------------- */

const char *listener_date(struct http_listener *l)
{
	int64_t now = loop_now_ms(l->loop);
	int64_t real;
	struct tm tm;
	time_t seconds;

	if (now < l->date_until)
		return l->date;
	real = clock_real_ms();
	seconds = (time_t)(real / 1000);
	gmtime_r(&seconds, &tm);
	strftime(l->date, sizeof(l->date),
		 "\r\nDate: %a, %d %b %Y %H:%M:%S GMT\r\n", &tm);
	l->date_until = now + 1000 - real % 1000;
	return l->date;
}

/* --- metrics -------------------------------------------------------------- */

static struct metric *refusals(struct metrics *m, const char *name,
			       const char *reason)
{
	char labels[128];

	snprintf(labels, sizeof(labels), "listener=\"%s\",reason=\"%s\"", name,
		 reason);
	return metrics_counter(m, "shortloop_http_refused_total", labels,
			       "Requests that the HTTP server refused itself.");
}

static void register_metrics(struct http_listener *l, struct metrics *m,
			     const char *name)
{
	struct http_metrics *to = &l->metrics;
	char labels[96];

	if (!m)
		return;
	snprintf(labels, sizeof(labels), "listener=\"%s\"", name);
	to->accepted = metrics_counter(m, "shortloop_http_connections_total",
				       labels, "Connections accepted.");
	to->open = metrics_gauge(m, "shortloop_http_connections", labels,
				 "Connections open now.");
	to->requests = metrics_counter(m, "shortloop_http_requests_total",
				       labels, "Requests handled.");
	to->malformed = refusals(m, name, "malformed");
	to->too_large = refusals(m, name, "too_large");
	to->too_slow = refusals(m, name, "too_slow");
	to->overload = refusals(m, name, "overload");
	to->buffers = metrics_gauge(m, "shortloop_http_buffer_bytes", labels,
				    "Memory of requests that outgrew their "
				    "first buffer.");
	metric_add(metrics_gauge(m, "shortloop_http_buffer_bytes_max", labels,
				 "What that may be, all threads together."),
		   (uint64_t)l->config->max_buffer_bytes);
	metric_add(metrics_gauge(m, "shortloop_http_connections_max", labels,
				 "Connections that are allowed, all threads "
				 "together."),
		   (uint64_t)l->config->max_connections);
}

void listener_count_refusal(struct http_listener *l, int status)
{
	struct metric *metric = l->metrics.malformed;

	if (status == 408)
		metric = l->metrics.too_slow;
	else if (status == 413 || status == 431)
		metric = l->metrics.too_large;
	else if (status == 503)
		metric = l->metrics.overload;
	metric_add(metric, 1);
}

/* --- accepting ------------------------------------------------------------ */

/* An IPv4 client of an IPv6 socket is an IPv4 client. */
static void unmap(struct sockaddr_storage *peer)
{
	struct sockaddr_in6 six;
	struct sockaddr_in four = {.sin_family = AF_INET};

	if (peer->ss_family != AF_INET6)
		return;
	memcpy(&six, peer, sizeof(six));
	if (!IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
		return;
	four.sin_port = six.sin6_port;
	memcpy(&four.sin_addr, six.sin6_addr.s6_addr + 12, 4);
	memset(peer, 0, sizeof(*peer));
	memcpy(peer, &four, sizeof(four));
}

static void welcome(struct http_listener *l, int fd,
		    struct sockaddr_storage *peer)
{
	size_t max = (size_t)l->config->max_connections;
	struct error err;

	metric_add(l->metrics.accepted, 1);
	/* Saying 503 takes a connection too: a few are kept for that. */
	if (l->connection_count >= max + max / 16 + 16) {
		listener_count_refusal(l, 503);
		close(fd);
		return;
	}
	unmap(peer);
	l->connection_count++;
	metric_add(l->metrics.open, 1);
	if (connection_new(l, fd, peer, l->connection_count > max, &err) < 0)
		listener_forget(l);
}

static void pause_accepting(struct http_listener *l)
{
	struct error err;

	loop_watch_set(l->watch, 0, &err);
	loop_timer_set(l->pause, ACCEPT_PAUSE_MS);
}

static void resume_accepting(void *arg)
{
	struct http_listener *l = arg;
	struct error err;

	if (l->watch && loop_watch_set(l->watch, EPOLLIN, &err) < 0)
		loop_timer_set(l->pause, ACCEPT_PAUSE_MS);
}

/* False when there is nobody waiting, or nothing to accept with. */
static bool accept_one(struct http_listener *l)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	int fd;

	memset(&peer, 0, sizeof(peer));
	fd = accept4(l->fd, (struct sockaddr *)&peer, &len,
		     SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		welcome(l, fd, &peer);
		return true;
	}
	if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
	    errno == ENOMEM)
		pause_accepting(l);
	return errno == EINTR || errno == ECONNABORTED;
}

static void on_acceptable(void *arg, uint32_t events)
{
	struct http_listener *l = arg;
	int i;

	(void)events;
	for (i = 0; i < ACCEPTS_PER_TURN; i++) {
		if (!accept_one(l))
			return;
	}
}

/* --- draining ------------------------------------------------------------- */

static void on_drained(void *arg)
{
	struct http_listener *l = arg;
	void (*done)(void *) = l->drained;

	l->drained = NULL;
	if (done)
		done(l->drained_arg);
}

void listener_forget(struct http_listener *l)
{
	l->connection_count--;
	metric_add(l->metrics.open, UINT64_MAX);
	if (l->drained && l->connection_count == 0)
		loop_timer_set(l->drain_timer, 0);
}

static void stop_accepting(struct http_listener *l)
{
	if (l->fd < 0)
		return;
	loop_watch_free(l->watch);
	l->watch = NULL;
	close(l->fd);
	l->fd = -1;
}

void http_listener_drain(struct http_listener *l, int64_t timeout_ms,
			 void (*done)(void *arg), void *arg)
{
	struct connection *conn, *next;

	/* Those that wait to be accepted would be reset by closing. */
	while (l->fd >= 0 && accept_one(l))
		;
	stop_accepting(l);
	l->draining = true;
	for (conn = l->connections; conn; conn = next) {
		next = conn->next;
		connection_retire(conn);
	}
	l->drained = done;
	l->drained_arg = arg;
	loop_timer_set(l->drain_timer, l->connection_count ? timeout_ms : 0);
}

/* --- life ----------------------------------------------------------------- */

static int start(struct http_listener *l, const char *address,
		 struct error *err)
{
	int one = 1;

	if (address_bind(address, true, &l->fd, err) < 0)
		return -1;
	/* Connections inherit it: an answer leaves in one write. */
	setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	l->drain_timer = loop_timer_new(l->loop, on_drained, l, err);
	if (!l->drain_timer)
		return -1;
	l->pause = loop_timer_new(l->loop, resume_accepting, l, err);
	if (!l->pause)
		return -1;
	l->watch =
		loop_watch_fd(l->loop, l->fd, EPOLLIN, on_acceptable, l, err);
	return l->watch ? 0 : -1;
}

struct http_listener *http_listener_new(struct loop *loop, const char *address,
					const struct http_config *config,
					http_handler *handler, void *arg,
					struct metrics *metrics,
					const char *name, struct error *err)
{
	struct http_listener *l = calloc(1, sizeof(*l));

	if (!l) {
		error_set_nomem(err);
		return NULL;
	}
	*l = (struct http_listener){.loop = loop,
				    .config = config,
				    .handler = handler,
				    .arg = arg,
				    .fd = -1};
	if (start(l, address, err) < 0) {
		http_listener_free(l);
		return NULL;
	}
	register_metrics(l, metrics, name);
	return l;
}

void http_listener_admit(struct http_listener *l, http_admit *admit)
{
	l->admit = admit;
}

uint16_t http_listener_port(const struct http_listener *l)
{
	struct sockaddr_storage address = {0};
	socklen_t len = sizeof(address);
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (getsockname(l->fd, (struct sockaddr *)&address, &len) < 0)
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

	if (!l)
		return;
	l->drained = NULL;
	while (l->connections)
		connection_close(l->connections);
	stop_accepting(l);
	while ((req = l->pool)) {
		l->pool = req->next_free;
		request_free(req);
	}
	loop_timer_free(l->drain_timer);
	loop_timer_free(l->pause);
	free(l);
}
