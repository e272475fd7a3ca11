/*
 * api.h - the aggregator's HTTP API and dashboard: event loops that serve
 * connections, and workers that ask ClickHouse.
 */
#ifndef AGGREGATOR_API_API_H
#define AGGREGATOR_API_API_H

#include "aggregator/aggregator_config.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct api;

/* Reads the dashboard's files and opens the listeners.  `config` must outlive
 * it.  Missing dashboard files are logged, not an error. */
struct api *api_new(const struct aggregator_config *config, struct log *log,
		    struct metrics *metrics, struct error *err);

/* Starts serving. */
int api_start(struct api *api, struct error *err);

/* Stops accepting, lets requests finish (at most drain_timeout) and joins the
 * threads.  NULL accepted. */
void api_free(struct api *api);

#endif
