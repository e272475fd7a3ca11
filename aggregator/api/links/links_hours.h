/*
 * links_hours.h - the limit of the single clicks that a list by clicks counts.
 *
 * The hours after the settled days are counted in rows for a caller that does
 * not see all accounts, on each page.
 */
#ifndef AGGREGATOR_API_LINKS_LINKS_HOURS_H
#define AGGREGATOR_API_LINKS_LINKS_HOURS_H

#include <stdint.h>

#include "aggregator/api/call.h"
#include "aggregator/api/links/links_query.h"
#include "common/error.h"

/* The hours between are counted after the days before `until_day` (both since
 * 1970).  Sets *until_hour to the end of the days if more than raw_rows_max
 * rows would be read for them. */
int links_hours_limit(struct call *call, const struct links_query *q,
		      uint32_t until_day, uint32_t *until_hour,
		      struct error *err);

#endif
