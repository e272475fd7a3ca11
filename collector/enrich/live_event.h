/*
 * live_event.h - a click as it is shown live: what its row says, but for what
 * tells who the visitor is.
 *
 * A JSON object (docs/aggregator.md, "Live").  It has no address, no hash of
 * the visitor, no user agent, no referrer but its host, no query, no cookie and
 * no place but the country.  Since all of it is read from the row, it says
 * nothing that the settings keep out of the table.
 */
#ifndef COLLECTOR_ENRICH_LIVE_EVENT_H
#define COLLECTOR_ENRICH_LIVE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

/*
 * Appends the object.  `row` is one row as row_append_click has written it.
 * Returns false, and appends nothing, when it is no click that counts (another
 * outcome than "redirected") or happened or was stored by Kafka before
 * `since_ms`; *ret_old says whether it was for that.
 */
bool live_event_put(struct buf *out, const void *row, size_t len,
		    int64_t since_ms, bool *ret_old);

#endif
