#include "common/http/io.h"
#include "common/http/http_metrics.h"

#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/http/reply.h"
#include "common/http/request_pool.h"

/* The read buffer's first size: enough for many pipelined requests, or a long
 * one. */
#define READ_BUFFER 16384
/* The buffer grows before the next read if it has less room than this. */
#define READ_MIN 2048
bool connection_is_sending(const struct connection *conn)
{
	return conn->req && conn->req->sent < conn->req->out.len;
}

void connection_hang_up(struct connection *conn)
{
	if (conn->fd < 0)
		return;
	if (conn->watch)
		loop_watch_close(conn->watch);
	else
		close(conn->fd);
	conn->watch = NULL;
	conn->fd = -1;
}

/* Before a close the last bytes wait, so that they leave together with the
 * FIN. */
static int flags_of(const struct connection *conn)
{
	return conn->closing && conn->phase == READING ? MSG_NOSIGNAL | MSG_MORE
						       : MSG_NOSIGNAL;
}

bool connection_flush(struct connection *conn)
{
	struct http_request *req = conn->req;
	ssize_t n;

	if (req->out.failed)
		connection_hang_up(conn);
	while (conn->fd >= 0 && req->sent < req->out.len) {
		n = send(conn->fd, req->out.data + req->sent,
			 req->out.len - req->sent, flags_of(conn));
		if (n > 0) {
			req->sent += (size_t)n;
			conn->progress = true;
		} else if (errno == EAGAIN) {
			return false;
		} else if (errno != EINTR) {
			connection_hang_up(conn);
		}
	}
	if (conn->fd < 0)
		return false;
	buf_reset(&req->out);
	req->sent = 0;
	return true;
}

int connection_unread(const struct connection *conn)
{
	int bytes = 0;

	ioctl(conn->fd, SIOCOUTQ, &bytes);
	return bytes;
}

bool connection_has_input(const struct connection *conn)
{
	int bytes = 0;

	return ioctl(conn->fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

/* Doubles the read buffer.  Returns false if out of memory, or above the limit
 * of all requests; then the request is refused. */
static bool grow_read_buffer(struct http_request *req)
{
	struct http_listener *l = req->conn->listener;
	size_t extra = req->in.cap;

	/* A single request may grow up to the limit of its body. */
	if (l->grown > req->grown &&
	    l->grown + extra > (size_t)l->config->max_buffer_bytes) {
		http_metrics_refused(&l->metrics, 503);
		reply_refusal(req, 503, "too many large requests at once");
		return false;
	}
	if (!buf_reserve(&req->in, req->in.cap - req->in.len + 1)) {
		connection_hang_up(req->conn);
		return false;
	}
	extra = req->in.cap - extra;
	req->grown += extra;
	l->grown += extra;
	metric_add(l->metrics.buffers, extra);
	return true;
}

static void move_to_front(struct http_request *req)
{
	if (req->start == 0)
		return;
	memmove(req->in.data, req->in.data + req->start,
		req->in.len - req->start);
	req->in.len -= req->start;
	if (req->begun)
		req->parsed -= req->start;
	req->start = 0;
}

int request_make_room(struct http_request *req, size_t room)
{
	struct http_listener *l = req->conn->listener;
	size_t before = req->in.cap, extra;

	move_to_front(req);
	if (req->in.len - req->parsed < room)
		room -= req->in.len - req->parsed;
	else
		room = 0;
	if (!buf_reserve(&req->in, room))
		return -1;
	extra = req->in.cap - before;
	req->grown += extra;
	l->grown += extra;
	metric_add(l->metrics.buffers, extra);
	return 0;
}

/* Makes room after the bytes of an unfinished request. */
static bool make_room(struct http_request *req)
{
	/* A streamed body has been taken whole; the headers stay in place. */
	if (req->stream)
		return true;
	move_to_front(req);
	if (req->in.cap - req->in.len >= READ_MIN)
		return true;
	if (req->in.cap > 0)
		return grow_read_buffer(req);
	if (buf_reserve(&req->in, READ_BUFFER))
		return true;
	connection_hang_up(req->conn);
	return false;
}

bool connection_take_request(struct connection *conn)
{
	if (conn->req)
		return true;
	conn->req = request_pool_take(conn->listener);
	if (!conn->req)
		return false;
	conn->req->conn = conn;
	return true;
}

void connection_read(struct connection *conn)
{
	struct http_request *req;
	size_t room;
	ssize_t n;

	if (!connection_take_request(conn)) {
		connection_hang_up(conn);
		return;
	}
	if (!make_room(conn->req))
		return;
	req = conn->req;
	room = req->in.cap - req->in.len;
	n = recv(conn->fd, req->in.data + req->in.len, room, 0);
	if (n > 0) {
		req->in.len += (size_t)n;
		conn->spoken = true;
		conn->drained = (size_t)n < room;
		conn->progress |= req->stream != NULL;
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		connection_hang_up(conn);
}

/* Reads and discards what a refused client still sends: closing with unread
 * bytes would reset the connection, and the client might lose the answer. */
void connection_discard(struct connection *conn)
{
	char waste[16384];
	ssize_t n = recv(conn->fd, waste, sizeof(waste), 0);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		connection_hang_up(conn);
}
