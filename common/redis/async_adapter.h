/*
 * async_adapter.h - lets hiredis' event-driven context live on our loop.
 *
 * What hiredis wants to write is gathered and written once a turn, by
 * async_adapter_flush; the loop is asked to watch for room only while
 * connecting or when the socket is full.
 */
#ifndef COMMON_REDIS_ASYNC_ADAPTER_H
#define COMMON_REDIS_ASYNC_ADAPTER_H

#include <hiredis/async.h>
#include <stdbool.h>

#include "common/loop/loop.h"

struct async_adapter {
	struct loop *loop;
	redisAsyncContext *context;
	struct loop_watch *watch;
	bool dirty;    /* something is to be written */
	bool gather;   /* until the end of the turn: once connected */
	bool flushing; /* what is left over did not fit the socket */
};

/* `adapter` must outlive the context; hiredis detaches it by itself. */
int async_adapter_attach(struct async_adapter *adapter, struct loop *loop,
			 redisAsyncContext *context, struct error *err);

/* From the end of connecting on, writes are gathered. */
void async_adapter_gather(struct async_adapter *adapter);

/* Writes what the socket takes and calls nothing back: an error waits for the
 * next flush. */
void async_adapter_push(struct async_adapter *adapter);

/* May end the context: its callbacks have then been called. */
void async_adapter_flush(struct async_adapter *adapter);

#endif
