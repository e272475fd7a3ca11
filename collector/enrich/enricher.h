/*
 * enricher.h - an event's bytes in, a row's bytes out.
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

/* Loads the reference files; a bad one is ERROR_CONFIG.  `settings` must
 * outlive it. */
struct enricher *enricher_new(const struct collector_settings *settings,
			      struct error *err);
void enricher_free(struct enricher *e); /* NULL accepted */

/* Goes on with other files (enrich_lookups_exchange).  It only swaps pointers,
 * so it may be called between two events. */
void enricher_exchange(struct enricher *e, struct enrich_lookups *fresh);

/* Goes on with this list of what is forgotten and the one that it has, united.
 * Takes it over; NULL accepted.  When memory ran out it has the one it had. */
int enricher_forget(struct enricher *e, struct forgotten *list,
		    struct error *err);
/* The table as the last one was read: forgotten_state_of. */
struct forgotten_state enricher_forgotten(const struct enricher *e);

/*
 * Appends a row of the table clicks to `rows`, without what is forgotten.
 * *ret_ts is the row's time. Returns -1 with ERROR_INPUT and the reason when
 * the bytes are no event, and leaves `rows` as it was.
 */
int enricher_click(struct enricher *e, const struct event_origin *origin,
		   const void *event, size_t len, struct buf *rows,
		   int64_t *ret_ts, struct error *err);

/* The same for a click that is decoded already. */
int enricher_click_row(struct enricher *e, const struct event_origin *origin,
		       const Shortloop__Click *click, struct buf *rows,
		       int64_t *ret_ts, struct error *err);

/* The same for a LinkEvent and the table links. */
int enricher_link(struct enricher *e, const struct event_origin *origin,
		  const void *event, size_t len, struct buf *rows,
		  int64_t *ret_ts, struct error *err);

/* Finds out about a click what its row is to say, for those who show it rather
 * than store it.  Valid until the next call. */
int enricher_facts(struct enricher *e, const struct event_origin *origin,
		   const Shortloop__Click *click, struct click_facts *facts,
		   struct error *err);

/* The files as loaded now; valid until the next enricher_exchange. */
struct reference;
const struct reference *enricher_reference(const struct enricher *e);

struct enricher_stats {
	struct cache_stats agents;
	struct cache_stats places;
	size_t geo_bytes;		       /* of the geo files */
	uint64_t verdicts[VERDICT_KIND_COUNT]; /* rows so far */
	uint64_t late;			       /* of them, click_is_late */
};
struct enricher_stats enricher_stats(const struct enricher *e);

#endif
