#include "common/http/proxied.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/http/connection.h"
#include "common/http/http_metrics.h"
#include "common/http/proxy_protocol.h"

/* This is smaller than a connection: it has no buffer of the pool, and no
 * request, whose first byte has to be the client's. */
struct proxied {
	struct http_listener *listener;
	struct proxied *prev, *next;
	struct loop_watch *watch; /* NULL: checked at once, in proxied_begin */
	struct loop_timer *timer;
	struct sockaddr_storage peer; /* the proxy */
	int fd;
	size_t have;
	uint8_t bytes[PROXY_HEADER_MAX]; /* the header, and no byte behind it */
};

bool proxied_is_expected(const struct http_listener *l,
			 const struct sockaddr_storage *peer)
{
	struct address address = address_of_peer(peer);

	return network_list_has(l->proxies, &address);
}

/* --- ends ----------------------------------------------------------------- */

/* Unlinks it without closing its descriptor. */
static void free_proxied(struct proxied *p)
{
	struct http_listener *l = p->listener;

	loop_watch_free(p->watch);
	loop_timer_free(p->timer);
	if (p->prev)
		p->prev->next = p->next;
	else
		l->proxied = p->next;
	if (p->next)
		p->next->prev = p->prev;
	l->connection_count--;
	metric_add(l->metrics.open, UINT64_MAX);
	free(p);
}

/* Returns false: the connection no longer waits. */
static bool hang_up(struct proxied *p)
{
	struct http_listener *l = p->listener;

	close(p->fd);
	free_proxied(p);
	connection_check_drain(l);
	return false;
}

static bool refuse_connection(struct proxied *p, struct metric *reason,
			      const char *why)
{
	struct http_listener *l = p->listener;

	metric_add(reason, 1);
	if (l->proxy_refused)
		l->proxy_refused(&p->peer, why, l->proxy_arg);
	return hang_up(p);
}

static bool become_connection(struct proxied *p, const struct proxy_header *h)
{
	struct http_listener *l = p->listener;
	struct sockaddr_storage peer = h->has_source ? h->source : p->peer;
	int fd = p->fd;
	struct error err;

	free_proxied(p);
	/* A connection that cannot be made is closed. */
	(void)connection_new(l, fd, &peer,
			     l->connection_count >=
				     (size_t)l->config->max_connections,
			     &err);
	return false;
}

/* --- reading -------------------------------------------------------------- */

/* Reads the bytes that were peeked at. */
static bool read_peeked_bytes(struct proxied *p, size_t n)
{
	if (recv(p->fd, p->bytes + p->have, n, 0) != (ssize_t)n)
		return false;
	p->have += n;
	return true;
}

/* Peeks at what has arrived and leaves what is not the header's.  Returns false
 * if it no longer waits, and is freed. */
static bool read_proxy_header(struct proxied *p)
{
	ssize_t n = recv(p->fd, p->bytes + p->have, sizeof(p->bytes) - p->have,
			 MSG_PEEK);
	const char *why = "the connection ended within the header";
	struct proxy_header header;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	/* A proxy that only checks whether this port is open sends nothing. */
	if (n <= 0 && p->have == 0)
		return hang_up(p);
	if (n <= 0)
		return refuse_connection(p, p->listener->metrics.proxy_header,
					 why);
	switch (proxy_header_parse(p->bytes, p->have + (size_t)n, &header,
				   &why)) {
	case PROXY_MORE:
		return read_peeked_bytes(p, (size_t)n) || hang_up(p);
	case PROXY_COMPLETE:
		return read_peeked_bytes(p, header.len - p->have)
			       ? become_connection(p, &header)
			       : hang_up(p);
	case PROXY_MALFORMED:
		break;
	}
	return refuse_connection(p, p->listener->metrics.proxy_header, why);
}

static void on_event(void *arg, uint32_t events)
{
	(void)events;
	read_proxy_header(arg);
}

static void on_timeout(void *arg)
{
	struct proxied *p = arg;

	refuse_connection(p, p->listener->metrics.too_slow,
			  "the header came too slowly");
}

/* --- life ----------------------------------------------------------------- */

static int wait_for_more(struct proxied *p)
{
	struct http_listener *l = p->listener;
	struct error ignored;

	p->timer = loop_timer_new(l->loop, on_timeout, p, &ignored);
	if (!p->timer)
		return -1;
	loop_timer_set(p->timer, l->config->header_timeout);
	p->watch =
		loop_watch_fd(l->loop, p->fd, EPOLLIN, on_event, p, &ignored);
	return p->watch ? 0 : -1;
}

void proxied_begin(struct http_listener *l, int fd,
		   const struct sockaddr_storage *peer)
{
	struct proxied *p = malloc(sizeof(*p));

	if (!p) {
		close(fd);
		return;
	}
	/* `bytes` is left out: pages that no header reaches stay untouched. */
	memset(p, 0, offsetof(struct proxied, bytes));
	p->listener = l;
	p->fd = fd;
	p->peer = *peer;
	p->next = l->proxied;
	if (p->next)
		p->next->prev = p;
	l->proxied = p;
	l->connection_count++;
	metric_add(l->metrics.open, 1);
	/* Most proxies send it with their first packet, which has arrived by
	 * now. */
	if (read_proxy_header(p) && wait_for_more(p) < 0)
		hang_up(p);
}

/* --- all connections of a listener ---------------------------------------- */

void proxied_finish_all(struct http_listener *l)
{
	struct proxied *p, *next;

	for (p = l->proxied; p; p = next) {
		next = p->next;
		if (read_proxy_header(p))
			hang_up(p);
	}
}

void proxied_close_all(struct http_listener *l)
{
	struct proxied *p, *next;

	for (p = l->proxied; p; p = next) {
		next = p->next;
		hang_up(p);
	}
}
