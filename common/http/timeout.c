#include "common/http/internal.h"

/* How long a refused client may take to read why. */
#define LINGER_MS 2000

static enum connection_wait what_it_waits_for(const struct connection *conn)
{
	if (conn->phase == LINGERING)
		return WAIT_LINGER;
	if (connection_is_sending(conn))
		return WAIT_WRITE;
	if (conn->phase == HANDLING)
		return WAIT_HANDLER;
	if (conn->phase == STREAMING)
		return stream_is_lost(conn->req)  ? WAIT_LINGER
		       : stream_wants_input(conn) ? WAIT_BODY
						  : WAIT_HANDLER;
	if (!conn->req)
		return WAIT_IDLE;
	return conn->req->headers_done ? WAIT_BODY : WAIT_HEADER;
}

static int64_t timeout_of(const struct http_config *config,
			  enum connection_wait wait)
{
	switch (wait) {
	case WAIT_IDLE:
		return config->idle_timeout;
	case WAIT_HEADER:
		return config->header_timeout;
	case WAIT_BODY:
		return config->body_timeout;
	case WAIT_WRITE:
		return config->write_timeout;
	case WAIT_LINGER:
		return LINGER_MS;
	case WAIT_HANDLER:
		break;
	}
	return INT64_MAX;
}

void connection_set_timeout(struct connection *conn)
{
	enum connection_wait wait = what_it_waits_for(conn);
	int64_t now = loop_now_ms(conn->listener->loop);
	int64_t timeout = timeout_of(conn->listener->config, wait);

	if (wait == WAIT_WRITE)
		conn->unread = connection_unread(conn);
	if (wait != conn->wait || conn->progress) {
		conn->wait = wait;
		conn->progress = false;
		conn->since = now;
	}
	if (timeout == INT64_MAX)
		loop_timer_stop(conn->timer);
	else
		loop_timer_set(conn->timer, conn->since + timeout - now);
}
