/*
 * edge.h - one thread of the redirector: a loop, a listener, a cache and a
 * connection to Redis of its own.
 */
#ifndef REDIRECTOR_EDGE_H
#define REDIRECTOR_EDGE_H

#include "common/kafka/producer.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "linkstore/linkstore.h"
#include "redirector/client_address.h"
#include "redirector/counts.h"
#include "redirector/place.h"
#include "redirector/redirector.h"
#include "redirector/renew_gate.h"
#include "redirector/space_guard.h"

/* What the threads share; all of it must outlive them. */
struct edge_shared {
	const struct redirector_config *config;
	const char *name; /* in events */
	size_t threads;
	const struct linkstore *store;
	const struct proxy_list *proxies;
	const struct places *places;
	struct renew_gate *gate;
	struct space_guard *spaces;
	struct kafka_producer *producer;
	struct counts_shared counts;
	struct log *log;
	struct metrics *metrics;
	/* A thread's connection to Redis came (err NULL) or went. */
	void (*on_redis)(void *arg, unsigned number, bool up,
			 const struct error *err);
	void *arg;
};

struct edge;

/* `number` 0 also keeps the watch over the spaces. */
struct edge *edge_new(const struct edge_shared *shared, unsigned number,
		      struct error *err);

/* Runs the loop in a thread of its own. */
int edge_start(struct edge *edge, struct error *err);

/* Stops accepting and ends the loop when the last request is answered, or after
 * `timeout_ms`.  From any thread; returns at once. */
void edge_drain(struct edge *edge, int64_t timeout_ms);

/* Waits for the thread to end.  Does nothing when it was not started. */
void edge_join(struct edge *edge);

/* After edge_join.  NULL and a half-made edge are accepted. */
void edge_free(struct edge *edge);

#endif
