/*
 * named_link.h - the link that somebody names: which it is, and is it live?
 *
 * The archive says how it was when it changed last, and may lack what was
 * changed since; by visits it is renewed without a change.  So Redis is asked,
 * where links.spaces tell how.  A link that Redis lost, as by a failover, can
 * be deleted by nobody: its absence there is believed, whatever the archive
 * says.
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
	bool is_lost;	  /* live by the archive, and Redis has it no more */
	bool redis_asked; /* false: the archive alone */
};

/*
 * The link that has the code, or had it last, or (without a code) the link of
 * that number.  ERROR_NOTFOUND: neither knows one.  Waits for Redis for half a
 * minute; ERROR_REMOTE, retriable: it does not say whether the link is live.
 */
int named_link_find(const struct link_sources *sources, const char *code,
		    uint64_t link_id, int64_t now, struct named_link *ret,
		    struct error *err);

#endif
