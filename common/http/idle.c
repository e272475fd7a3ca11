#include "common/http/idle.h"

static void append_idle_connection(struct connection *conn)
{
	struct idle_queue *q = &conn->listener->idle;

	conn->idle_prev = q->last;
	conn->idle_next = NULL;
	if (q->last)
		q->last->idle_next = conn;
	else
		q->first = conn;
	q->last = conn;
	conn->is_idle = true;
}

void idle_enter(struct connection *conn, int64_t now)
{
	if (conn->is_idle && now - conn->idle_from < IDLE_GRAIN_MS)
		return;
	idle_leave(conn);
	append_idle_connection(conn);
	conn->idle_from = now;
}

void idle_leave(struct connection *conn)
{
	struct idle_queue *q = &conn->listener->idle;

	if (!conn->is_idle)
		return;
	if (conn->idle_prev)
		conn->idle_prev->idle_next = conn->idle_next;
	else
		q->first = conn->idle_next;
	if (conn->idle_next)
		conn->idle_next->idle_prev = conn->idle_prev;
	else
		q->last = conn->idle_prev;
	conn->is_idle = false;
}
