/*
 * async_adapter.h - runs hiredis' event-driven context on our loop.
 *
 * What hiredis wants to write is gathered and written once a turn, by
 * async_adapter_flush; the loop watches for writability only while connecting
 * or when the socket is full.
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
	bool dirty;    /* there is something to write */
	bool gather;   /* until the end of the turn: set once connected */
	bool flushing; /* a rest did not fit into the socket */
};

/* `adapter` must outlive the context; hiredis detaches it itself. */
int async_adapter_attach(struct async_adapter *adapter, struct loop *loop,
			 redisAsyncContext *context, struct error *err);

/* Gathers writes from now on; called when connecting has ended. */
void async_adapter_gather(struct async_adapter *adapter);

/* Writes what the socket accepts and calls no callback: an error is handled by
 * the next flush. */
void async_adapter_push(struct async_adapter *adapter);

/* May end the context: its callbacks have then been called. */
void async_adapter_flush(struct async_adapter *adapter);

#endif
