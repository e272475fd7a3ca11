/*
 * live_owners.h - finds whose links are, for clicks that go to those who do not
 * see all links.
 *
 * The archive says it, as for all of the API (access.h).  It is asked by a
 * worker, for all links at once that clicks wait for, one question at a time;
 * what it said is good for some seconds.  A link that it does not have yet,
 * since its own event is still on its way, is asked for again for a moment;
 * then nobody sees the click but those who see all.
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
	struct clickhouse *const *connections; /* one a worker */
	struct query_ender *ender;
	int64_t timeout; /* of a question, ms */
	struct log *log;
	/* The event's `whose` is filled in; from any thread, one call at a
	 * time.  Shares the event if it keeps it. */
	void (*found)(void *arg, struct live_event *e);
	/* These events did not fit, or nobody could be asked. */
	void (*lost)(void *arg, uint64_t events);
	void *arg;
};

struct live_owners *live_owners_new(const struct live_owners_options *options,
				    struct error *err);
/* Once its workers have ended.  NULL accepted. */
void live_owners_free(struct live_owners *o);

/* Shares the event until it is found or given up. */
void live_owners_find(struct live_owners *o, struct live_event *e);

/* Asks for what waits; by one thread, now and then. */
void live_owners_ask(struct live_owners *o);

#endif
