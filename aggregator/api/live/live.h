/*
 * live.h - GET /v1/live: clicks as they come, as server-sent events.
 *
 * A thread reads the topic kafka.topic_live from its end on, while anybody
 * listens, and hands each click to the API's loops, whose subscribers are sent
 * what they asked for and may see.  A subscriber who reads too slowly loses
 * clicks rather than time, and is told how many.
 *
 *	Kafka --> reader thread --> inbox of each loop --> queue of a subscriber
 *	               |                                   who sees all links
 *	               `--> the archive (a worker) --> inbox --> of one who does
 *	                                                         not
 *
 * All of that is bounded: inboxes, what waits for its owner, queues.
 */
#ifndef AGGREGATOR_API_LIVE_LIVE_H
#define AGGREGATOR_API_LIVE_LIVE_H

#include "aggregator/aggregator_config.h"
#include "aggregator/api/query_ender.h"
#include "aggregator/api/redis_links.h"
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
	struct api_keyring *keys; /* NULL: anybody may ask */
	struct workers *workers;
	struct clickhouse *const *connections; /* one a worker */
	struct redis_links *redis; /* NULL: no spaces are configured */
	struct query_ender *ender;
	struct slots *questions; /* of keys, of which looks for links are */
	struct metric *refused;	 /* counts questions that were */
};

/* The options' parts must outlive it. */
struct live *live_new(const struct live_options *options, struct error *err);
/* Starts the reader, where there is a topic. */
int live_start(struct live *l, struct error *err);
/* Ends the reader.  Once the loops have stopped, before the workers end and the
 * listeners are freed; NULL accepted. */
void live_stop(struct live *l);
/* Once the listeners, which end all streams, and the workers have gone.  NULL
 * accepted. */
void live_free(struct live *l);

/* One of the API's loops, before any of them runs; lives as long as `l`. */
struct live_loop *live_loop_new(struct live *l, struct loop *loop,
				struct error *err);
/* Is it a request of /v1/live?  To be handled by live_handle, as a streamed
 * one, where it is served. */
bool live_choose(const struct http_request *req);
void live_handle(struct live_loop *at, struct http_request *req);

#endif
