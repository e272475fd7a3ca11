#include "common/redis/async_adapter.h"

#include <sys/epoll.h>

static void on_event(void *arg, uint32_t events)
{
	struct async_adapter *a = arg;

	if (events & EPOLLOUT && a->context)
		redisAsyncHandleWrite(a->context);
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && a->context)
		redisAsyncHandleRead(a->context);
}

static void set_watched_events(struct async_adapter *a, uint32_t events)
{
	struct error ignored;

	/* The descriptor is watched already: epoll can only fail for lack of
	 * memory, and the deadlines cover that. */
	if (a->watch)
		(void)loop_watch_set(a->watch, events, &ignored);
}

static void add_read(void *data)
{
	(void)data; /* always watched */
}

static void add_write(void *data)
{
	struct async_adapter *a = data;

	if (!a->gather || a->flushing)
		set_watched_events(a, EPOLLIN | EPOLLOUT);
	else
		a->dirty = true;
}

static void del_write(void *data)
{
	struct async_adapter *a = data;

	set_watched_events(a, EPOLLIN);
	a->dirty = false;
}

static void detach_adapter(void *data)
{
	struct async_adapter *a = data;

	loop_watch_free(a->watch);
	a->watch = NULL;
	a->context = NULL;
	a->dirty = false;
}

int async_adapter_attach(struct async_adapter *adapter, struct loop *loop,
			 redisAsyncContext *context, struct error *err)
{
	*adapter = (struct async_adapter){
		.loop = loop,
		.context = context,
	};
	adapter->watch = loop_watch_fd(loop, context->c.fd, EPOLLIN | EPOLLOUT,
				       on_event, adapter, err);
	if (!adapter->watch)
		return -1;
	context->ev.data = adapter;
	context->ev.addRead = add_read;
	context->ev.delRead = add_read;
	context->ev.addWrite = add_write;
	context->ev.delWrite = del_write;
	context->ev.cleanup = detach_adapter;
	return 0;
}

void async_adapter_gather(struct async_adapter *adapter)
{
	set_watched_events(adapter, EPOLLIN);
	adapter->gather = true;
}

void async_adapter_push(struct async_adapter *adapter)
{
	int done;

	/* hiredis keeps an error, which the flush finds. */
	if (adapter->dirty && adapter->context)
		(void)redisBufferWrite(&adapter->context->c, &done);
}

void async_adapter_flush(struct async_adapter *adapter)
{
	if (!adapter->dirty || !adapter->context)
		return;
	adapter->dirty = false;
	adapter->flushing = true;
	redisAsyncHandleWrite(adapter->context);
	adapter->flushing = false;
}
