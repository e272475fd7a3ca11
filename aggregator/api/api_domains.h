/*
 * api_domains.h - the domains of short URLs, as the other programs have them:
 * those of the configuration, of its file, or of Redis.
 */
#ifndef AGGREGATOR_API_API_DOMAINS_H
#define AGGREGATOR_API_API_DOMAINS_H

#include "aggregator/aggregator_config.h"
#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "linkstore/domains.h"

struct api_domains;

/* The arguments must outlive it. */
struct api_domains *api_domains_new(const struct aggregator_config *config,
				    struct log *log, struct metrics *metrics,
				    struct health *health, struct error *err);
/* Call it when no thread uses it any more.  NULL accepted. */
void api_domains_free(struct api_domains *d);

/* Starts to poll Redis for domains, if they are shared. */
int api_domains_start(struct api_domains *d, struct error *err);

/* Takes the present domains again. */
void api_domains_reload(struct api_domains *d);

/* Returns the domains, or NULL while those in Redis were not found yet.
 * Callable from any thread. */
const struct domains *api_domains_now(const struct api_domains *d);

#endif
