/*
 * share_turn.h - a request with a share, from its arrival to its admission: it
 * waits for a worker, which may wait for Redis.
 *
 * All requests whose share is not known yet take turns and slots as one key
 * does, so that strangers with invented tokens leave the workers to keys.
 */
#ifndef AGGREGATOR_API_SHARES_SHARE_TURN_H
#define AGGREGATOR_API_SHARES_SHARE_TURN_H

#include "aggregator/api/shares/share_desk.h"
#include "aggregator/api/slots.h"
#include "common/log.h"
#include "common/loop/workers.h"

struct share_turn_uses {
	struct share_desk *desk; /* NULL: there are no shares here */
	struct workers *workers;
	struct slots *slots;
	struct metric *refused;
	struct log *log;
};

/* Receives an admitted request, on its loop, and its entry, of which it may
 * take the share; the entry is released after the call. */
typedef void share_turn_fn(void *arg, struct http_request *req,
			   struct share_entry *entry, size_t number);

/* Admits the request, or answers it.  `number` is passed on. */
void share_turn_begin(const struct share_turn_uses *uses, struct loop *loop,
		      struct http_request *req, share_turn_fn *fn, void *arg,
		      size_t number);

#endif
