/*
 * named_link.h - finds the link that a user names, and whether it is live.
 *
 * The archive has a link as of its last change; it may lack recent changes, and
 * a renewal by a visit is not in it.  So Redis is queried, if links.spaces are
 * configured.  A link that Redis has lost, for example in a failover, cannot be
 * deleted by any user: if Redis does not have it, it counts as not live,
 * whatever the archive has.  A paused link is live, since it may be continued.
 */
#ifndef AGGREGATOR_FORGET_NAMED_LINK_H
#define AGGREGATOR_FORGET_NAMED_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "common/app/app.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct link_sources {
	struct app *app;
	const struct aggregator_config *config;
	struct clickhouse *ch;
};

struct named_link {
	uint64_t link_id;
	char code[128];
	bool is_live;
	bool may_return;  /* it is deleted, and can still be restored */
	bool is_lost;	  /* live in the archive, but no longer in Redis */
	bool redis_asked; /* false: only the archive was queried */
};

/*
 * Finds the link that has the code, or had it last, or (without a code) the
 * link with that number.  ERROR_NOTFOUND: neither source has one.  Waits up to
 * half a minute for Redis; ERROR_REMOTE, retriable: Redis does not answer
 * whether the link is live.
 */
int named_link_find(const struct link_sources *sources, const char *code,
		    uint64_t link_id, int64_t now, struct named_link *ret,
		    struct error *err);

#endif
