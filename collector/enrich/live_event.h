/*
 * live_event.h - the live event of a click: its row without what identifies the
 * visitor.
 *
 * It is a JSON object (docs/aggregator.md, "Live").  It has no address, no hash
 * of the visitor, no user agent, no referrer except its host, no query, no
 * cookie and no place except the country.  All of it is read from the row, so
 * it contains nothing that the settings keep out of the table.
 */
#ifndef COLLECTOR_ENRICH_LIVE_EVENT_H
#define COLLECTOR_ENRICH_LIVE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

/*
 * Appends the object.  `row` is one row from row_append_click.  Returns false,
 * and appends nothing, if the click does not count (another outcome than
 * "redirected"), or happened or was stored by Kafka before `since_ms`; *ret_old
 * is true in the second case.
 */
bool live_event_put(struct buf *out, const void *row, size_t len,
		    int64_t since_ms, bool *ret_old);

#endif
