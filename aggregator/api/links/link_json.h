/*
 * link_json.h - a link of the archive as JSON: a row of links_page.sql or
 * link_history.sql, and what Redis alone knows of it.
 */
#ifndef AGGREGATOR_API_LINKS_LINK_JSON_H
#define AGGREGATOR_API_LINKS_LINK_JSON_H

#include <jansson.h>

#include "aggregator/api/call.h"
#include "common/error.h"
#include "linkstore/domains.h"

/*
 * Returns the link as the allocator writes it, and what the archive adds.  Its
 * fields are in the order of enum links_column.  The short URL is null while
 * `domains` are NULL: not known yet.  NULL: out of memory.
 */
json_t *link_row_to_json(char *const *fields, const struct domains *domains);

/*
 * Adds `visits` to each of the links: a number if the link has max_visits and
 * Redis answers, otherwise null.  A link that is called expired although Redis
 * has it gets its state and end from there: its renewal is still on its way to
 * the archive.  `state` is the filter of the list, or NULL: a link that is not
 * expired is then removed from the list of those that are.
 */
int links_json_add_life(struct call *call, json_t *links, const char *state,
			struct error *err);

#endif
