/*
 * router.h - which request is answered by what.
 */
#ifndef AGGREGATOR_API_ROUTER_H
#define AGGREGATOR_API_ROUTER_H

#include "aggregator/aggregator_config.h"
#include "aggregator/api/static_files.h"
#include "common/clickhouse/clickhouse.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "common/loop/workers.h"
#include "common/metrics/metrics.h"

#define ROUTE_COUNT 3

/* What all requests share.  Only read once the listeners run. */
struct router {
	const struct aggregator_config *config;
	struct log *log;
	struct static_files *files; /* NULL: no dashboard */
	struct buf openapi;	    /* JSON */
	struct workers *workers;
	struct clickhouse **connections; /* one a worker */
	struct metric *seconds[ROUTE_COUNT];
	struct metric *refused;
};

/* A handler's argument: where its requests are answered. */
struct router_loop {
	struct router *router;
	struct loop *loop;
};

void router_register_metrics(struct router *router, struct metrics *metrics);

/* An http_handler; `arg` is a struct router_loop. */
void router_handle(struct http_request *req, void *arg);

#endif
