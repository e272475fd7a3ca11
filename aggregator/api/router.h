/*
 * router.h - takes the requests of the API, finds their routes and callers, and
 * has workers answer them.
 */
#ifndef AGGREGATOR_API_ROUTER_H
#define AGGREGATOR_API_ROUTER_H

#include "aggregator/aggregator_config.h"
#include "aggregator/api/static_files.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "common/loop/workers.h"
#include "common/metrics/metrics.h"

/* The state that all requests share, filled in by api.c.  It is only read once
 * the listeners run. */
struct router {
	const struct aggregator_config *config;
	struct clickhouse_config hasty; /* for the workers' connections */
	struct log *log;
	struct api_keyring *keys;   /* NULL: every caller may ask */
	struct static_files *files; /* NULL: no dashboard */
	struct static_file openapi;
	struct workers *workers;
	struct freshness *freshness;
	struct live *live;
	struct clickhouse **connections; /* one per worker */
	struct answer_cache *answers;
	struct polls *polls;
	struct redis_links *redis; /* NULL: no spaces are configured */
	struct share_desk *shares; /* NULL: there are no shares */
	struct api_domains *domains;
	struct query_ender *ender;
	struct slots *questions;
	struct exports *exports;
	struct metric **seconds; /* of each route */
	struct metric *refused;
};

/* The argument of a handler: the loop on which its requests are answered. */
struct router_loop {
	struct router *router;
	struct loop *loop;
	struct live_loop *live;
};

/* Sets `seconds`, which is to be freed, and `refused`. */
int router_register_metrics(struct router *router, struct metrics *metrics,
			    struct error *err);

/* The functions of a listener (http_server.h); `arg` is a struct
 * router_loop. */
void router_handle(struct http_request *req, void *arg);
bool router_streams(const struct http_request *req, void *arg);
void router_stream(struct http_request *req, void *arg);
/* Adds the fields of every answer. */
void router_put_fields(const struct http_request *req, struct buf *lines,
		       void *arg);

#endif
