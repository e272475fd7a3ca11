/*
 * agent.h - parses user agents into columns that can be copied into a row.
 * Results are cached: there are far fewer user agents than clicks.
 *
 * Belongs to one thread.
 */
#ifndef COLLECTOR_ENRICH_AGENT_H
#define COLLECTOR_ENRICH_AGENT_H

#include "collector/enrich/cache.h"
#include "collector/enrich/reference.h"
#include "common/agent/verdict.h"

struct agent_lookup;

/* The data that `ref` points to must outlive it. */
struct agent_lookup *agent_lookup_new(const struct reference *ref,
				      size_t cache_bytes, struct error *err);
void agent_lookup_free(struct agent_lookup *l); /* NULL accepted */

struct agent {
	struct verdict verdict;
	const char *device_class; /* static */
	/* RowBinary: the columns from ua_family to device_class. */
	const void *columns;
	size_t columns_len;
};

/* *ret_agent is valid until the next call. */
int agent_find(struct agent_lookup *l, const char *text, size_t len,
	       struct agent *ret_agent, struct error *err);

struct cache_stats agent_stats(const struct agent_lookup *l);

#endif
