/*
 * api.h - the aggregator's HTTP API and dashboard: event loops serve
 * connections, and workers query ClickHouse.  The API requires a key where keys
 * are configured (api_keys.h); its description and the dashboard's files do
 * not.
 */
#ifndef AGGREGATOR_API_API_H
#define AGGREGATOR_API_API_H

#include "aggregator/aggregator_config.h"
#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct api;

/*
 * Reads the API keys and the dashboard's files and opens the listeners.
 * `config` and `health` must outlive it.  Missing dashboard files are logged
 * and are no error.
 */
struct api *api_new(const struct aggregator_config *config, struct log *log,
		    struct metrics *metrics, struct health *health,
		    struct error *err);

/* Starts serving. */
int api_start(struct api *api, struct error *err);

/* Reads the API keys again; a failure is logged and changes nothing. */
void api_reload(struct api *api);

/* Stops accepting connections, lets requests finish (at most drain_timeout) and
 * joins the threads.  NULL accepted. */
void api_free(struct api *api);

#endif
