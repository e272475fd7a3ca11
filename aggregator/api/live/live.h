/*
 * live.h - GET /v1/live: clicks as they arrive, as server-sent events.
 *
 * A thread reads the topic kafka.topic_live from its end on, while there are
 * subscribers, and hands each click to the API's loops.  These send a
 * subscriber the clicks that it asked for and may see.  A subscriber that reads
 * too slowly loses clicks rather than time, and is sent their number.
 *
 *	Kafka --> reader thread --> inbox of each loop --> queue of a subscriber
 *	               |                                   that sees all links
 *	               `--> archive (a worker) --> inbox --> queue of another
 *
 * All of these are bounded: the inboxes, the clicks that wait for an owner, and
 * the queues.
 */
#ifndef AGGREGATOR_API_LIVE_LIVE_H
#define AGGREGATOR_API_LIVE_LIVE_H

#include "aggregator/aggregator_config.h"
#include "aggregator/api/links/redis_links.h"
#include "aggregator/api/query_ender.h"
#include "aggregator/api/slots.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/keys/api_keyring.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "common/loop/workers.h"
#include "common/metrics/metrics.h"

struct live;
struct live_loop;

struct live_options {
	const struct aggregator_config *config;
	struct log *log;
	struct metrics *metrics;
	struct api_keyring *keys; /* NULL: every caller may ask */
	struct workers *workers;
	struct clickhouse *const *connections; /* one per worker */
	struct redis_links *redis; /* NULL: no spaces are configured */
	struct query_ender *ender;
	struct slots *questions; /* keys' slots; look-ups of links take one */
	struct metric *refused;	 /* counts refused questions */
};

/* The options' parts must outlive it. */
struct live *live_new(const struct live_options *options, struct error *err);
/* Starts the reader, if a topic is set. */
int live_start(struct live *l, struct error *err);
/* Ends the reader.  Call it after the loops have stopped, and before the
 * workers end and the listeners are freed.  NULL accepted. */
void live_stop(struct live *l);
/* Call it after the listeners, which end all streams, and the workers have
 * gone.  NULL accepted. */
void live_free(struct live *l);

/* Adds one of the API's loops, before any of them runs; it lives as long as
 * `l`. */
struct live_loop *live_loop_new(struct live *l, struct loop *loop,
				struct error *err);
/* Returns whether it is a request of /v1/live.  live_handle has to handle it
 * then, as a streamed request. */
bool live_choose(const struct http_request *req);
void live_handle(struct live_loop *at, struct http_request *req);

#endif
