/*
 * takedown_links.h - the links that lead to hosts which are taken down: the
 * archive finds them.  What was done is printed to stdout.
 */
#ifndef ALLOCATOR_COMMANDS_TAKEDOWN_LINKS_H
#define ALLOCATOR_COMMANDS_TAKEDOWN_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "allocator/allocator_config.h"
#include "common/app/app.h"
#include "common/error.h"

#define HOST_LINKS_NO_WAIT (-1)

struct host_links_order {
	struct app *app;
	const struct allocator_config *config;
	char *const *hosts; /* as on a list of domains */
	size_t count;
	/* How long to wait until the archive has the link events that are in
	 * Kafka.  HOST_LINKS_NO_WAIT: take it as it is. */
	int64_t wait_ms;
};

/* Counts the links that lead to each host. */
int takedown_links_count(const struct host_links_order *o, struct error *err);

/* Blocks them: first those that the archive has, then those that were made
 * until every allocator had the denial.  A run that failed can be repeated. */
int takedown_links_block(const struct host_links_order *o, struct error *err);

#endif
