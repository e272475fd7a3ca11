/*
 * exports.h - GET /v1/export/clicks: rows of `clicks` as a stream of any
 * length.
 *
 * An export queries some thousands of rows at a time.  While its client takes
 * them, the next ones become lines, and those behind them are read.  While the
 * client takes none, nothing is queried, and both are held.  Exports have their
 * own connections and threads, and are so few at once that questions do not
 * wait for them.
 */
#ifndef AGGREGATOR_API_EXPORT_EXPORTS_H
#define AGGREGATOR_API_EXPORT_EXPORTS_H

#include <stdbool.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/api/freshness.h"
#include "aggregator/api/links/redis_links.h"
#include "aggregator/api/query_ender.h"
#include "common/error.h"
#include "common/http/stream.h"
#include "common/keys/api_keyring.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct exports;

/* The parts of the API that it uses; all must outlive it. */
struct exports_uses {
	const struct aggregator_config *config;
	struct api_keyring *keys; /* NULL: every caller may ask */
	struct freshness *freshness;
	struct redis_links *redis; /* NULL: no spaces are configured */
	struct query_ender *ender;
	struct log *log;
	struct metrics *metrics;
};

struct exports *exports_new(const struct exports_uses *uses, struct error *err);
/* Ends its threads.  Call it after the loops have stopped and before their
 * listeners are freed.  NULL accepted. */
void exports_stop(struct exports *x);
void exports_free(struct exports *x); /* NULL accepted */

/* Returns whether this is a request for an export, which has to be streamed. */
bool exports_choose(const struct http_request *req);

/* Answers a request, on the loop that received it. */
void exports_handle(struct exports *x, struct loop *loop,
		    struct http_request *req);

#endif
