/*
 * enricher.h - turns an event's bytes into a row's bytes.
 *
 * Belongs to one thread.
 */
#ifndef COLLECTOR_ENRICH_ENRICHER_H
#define COLLECTOR_ENRICH_ENRICHER_H

#include <stddef.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/enrich/cache.h"
#include "collector/enrich/event.h"
#include "collector/enrich/forgotten.h"
#include "common/agent/verdict.h"
#include "common/buf.h"
#include "common/error.h"

struct enricher;
struct enrich_lookups;
struct click_facts;

/* Loads the reference files; an invalid one is ERROR_CONFIG.  `settings` must
 * outlive it. */
struct enricher *enricher_new(const struct collector_settings *settings,
			      struct error *err);
void enricher_free(struct enricher *e); /* NULL accepted */

/* Exchanges the reference files (enrich_lookups_exchange).  It only swaps
 * pointers, so it may be called between two events. */
void enricher_exchange(struct enricher *e, struct enrich_lookups *fresh);

/* Adds a list of what is forgotten to the present one.  Takes ownership; NULL
 * accepted.  When memory runs out it keeps its present list. */
int enricher_forget(struct enricher *e, struct forgotten *list,
		    struct error *err);
/* Returns the state of the table when the last list was read:
 * forgotten_state_of. */
struct forgotten_state enricher_forgotten(const struct enricher *e);

/*
 * Appends a row of the table clicks to `rows`, without what is forgotten.
 * *ret_ts is the row's time.  Returns -1 with ERROR_INPUT and the reason when
 * the bytes are no event, and leaves `rows` as it was.
 */
int enricher_click(struct enricher *e, const struct event_origin *origin,
		   const void *event, size_t len, struct buf *rows,
		   int64_t *ret_ts, struct error *err);

/* Does the same for a click that is decoded already. */
int enricher_click_row(struct enricher *e, const struct event_origin *origin,
		       const Shortloop__Click *click, struct buf *rows,
		       int64_t *ret_ts, struct error *err);

struct link_rows {
	struct buf *links, *creations; /* of links and created_links */
};

/* Does the same for a LinkEvent and the table links, and for the event of a
 * creation also for created_links.  *ret_created: the slot of that row (ms
 * since 1970); -1: the event is of no creation. */
int enricher_link(struct enricher *e, const struct event_origin *origin,
		  const void *event, size_t len, const struct link_rows *rows,
		  int64_t *ret_created, struct error *err);

/* Determines the facts of a click's row for callers that show the click and do
 * not store it.  They are valid until the next call. */
int enricher_facts(struct enricher *e, const struct event_origin *origin,
		   const Shortloop__Click *click, struct click_facts *facts,
		   struct error *err);

/* Returns the files as loaded now; valid until the next enricher_exchange. */
struct reference;
const struct reference *enricher_reference(const struct enricher *e);

struct enricher_stats {
	struct cache_stats agents;
	struct cache_stats places;
	size_t geo_bytes;		       /* size of the geo files */
	uint64_t verdicts[VERDICT_KIND_COUNT]; /* rows so far, by verdict */
	uint64_t late;			       /* rows with click_is_late */
};
struct enricher_stats enricher_stats(const struct enricher *e);

#endif
