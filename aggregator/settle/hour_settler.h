/*
 * hour_settler.h - the thread that settles hours, and that checks ClickHouse
 * and Redis for /readyz.
 */
#ifndef AGGREGATOR_SETTLE_HOUR_SETTLER_H
#define AGGREGATOR_SETTLE_HOUR_SETTLER_H

#include "aggregator/aggregator_config.h"
#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct hour_settler;

/* Registers its health checks and metrics.  `config` must outlive it. */
struct hour_settler *hour_settler_new(const struct aggregator_config *config,
				      struct log *log, struct metrics *metrics,
				      struct health *health, struct error *err);

/* Starts the thread. */
int hour_settler_start(struct hour_settler *s, struct error *err);

/* Ends the current pass between two hours, releases the lease, joins the
 * thread.  NULL accepted. */
void hour_settler_free(struct hour_settler *s);

#endif
