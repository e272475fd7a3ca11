/*
 * live_owners.h - finds the owners of links, for clicks that go to subscribers
 * that do not see all links.
 *
 * The archive decides, as for all of the API (access.h).  A worker queries it
 * for all links at once that clicks wait for, one query at a time; a result is
 * valid for some seconds.  The archive may not have a link yet, because the
 * link's own event is still on its way.  Then it is queried again for a moment,
 * and after that only the subscribers that see all links see the click.
 */
#ifndef AGGREGATOR_API_LIVE_LIVE_OWNERS_H
#define AGGREGATOR_API_LIVE_LIVE_OWNERS_H

#include <stdint.h>

#include "aggregator/api/live/live_event.h"
#include "aggregator/api/query_ender.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "common/log.h"
#include "common/loop/workers.h"

struct live_owners;

struct live_owners_options {
	struct workers *workers;
	struct clickhouse *const *connections; /* one per worker */
	struct query_ender *ender;
	int64_t timeout; /* per query, ms */
	struct log *log;
	/* Receives the event with `whose` filled in; from any thread, one call
	 * at a time.  It shares the event if it keeps it. */
	void (*found)(void *arg, struct live_event *e);
	/* These events did not fit, or the archive could not be queried. */
	void (*lost)(void *arg, uint64_t events);
	void *arg;
};

struct live_owners *live_owners_new(const struct live_owners_options *options,
				    struct error *err);
/* Call it after the workers have ended.  NULL accepted. */
void live_owners_free(struct live_owners *o);

/* Shares the event until its owner is found or it is dropped. */
void live_owners_find(struct live_owners *o, struct live_event *e);

/* Queries the archive for the waiting events; called regularly by one thread.
 */
void live_owners_ask(struct live_owners *o);

#endif
