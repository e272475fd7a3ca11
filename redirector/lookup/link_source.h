/*
 * link_source.h - where a thread looks links up: which server it queries, when,
 * for how long, and how many queries are under way.
 *
 *	ask --> a replica may have it --> a live link, as it is now --> found
 *	 |          |
 *	 |          v   it has none, is late, fails, or the link has changed
 *	 +----> the master --> breaker closed --> queried, or waits for its turn
 *	            |                                |
 *	            v   breaker open: refused        |
 *	        a replica may stand in, as it was <--+ failed
 *	                                             v   late
 *	                                          failed
 *
 * A replica is queried only for a link of which it is known to have everything
 * (replica_position.h): one that was not named as changed since.  Its answer
 * is current as of then, or as of the last heartbeat of the channel of changes,
 * and it is used only if a link is there, or blocked; only the master can tell
 * that there is none, or none any more.
 *
 * Neither server is trusted for a link that another Redis named as changed: a
 * former master does not have the writes of its successor
 * (freshness_elsewhere_since).
 *
 * While the master cannot be queried, a link in a replica is as good as one in
 * a cache: it may stand in for `cache_stale`.
 *
 * Belongs to its loop's thread.
 */
#ifndef REDIRECTOR_LOOKUP_LINK_SOURCE_H
#define REDIRECTOR_LOOKUP_LINK_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "linkstore/block/lookup.h"
#include "redirector/lookup/freshness.h"
#include "redirector/lookup/lookup_health.h"
#include "redirector/redirector_metrics.h"
#include "redirector/server.h"

struct link_source;

struct link_found {
	const struct link_answer *answer; /* valid during the call */
	struct freshness_mark asked;	  /* the answer is current as of this */
	int64_t sent; /* when the query was sent, monotonic ms */
};

/* `found` is the answer, or NULL: then `err` is the reason, and `why` is the
 * counter of that 503, as in responder_send_unavailable. */
typedef void link_found_fn(void *arg, const struct link_found *found,
			   enum redirector_counter why,
			   const struct error *err);

/* All arguments must outlive it. */
struct link_source *link_source_new(const struct server_context *server,
				    struct freshness_reader *changes,
				    struct redirector_counters *counters,
				    struct error *err);
/* Called after the connections have ended, which end all queries.  NULL
 * accepted. */
void link_source_free(struct link_source *s);

/* This link was named as changed. */
void link_source_note_change(struct link_source *s, struct http_slice code);
/* The connection to this server is new. */
void link_source_connected(struct link_source *s, enum lookup_server of);

/*
 * Looks a link up.  Returns 0 if `fn` will be called once, later, within
 * lookup_timeout.  Returns -1 if it will not; *ret_why is the counter of that
 * 503.  `stand_in` permits the answer of a replica if the master cannot be
 * queried.
 */
int link_source_ask(struct link_source *s, const struct link_target *target,
		    bool stand_in, link_found_fn *fn, void *arg,
		    enum redirector_counter *ret_why, struct error *err);

/* For other queries to the master, which the breaker counts as well.  The first
 * returns whether it may be queried.  When a query was sent, call `_begun`;
 * when it was answered (NULL) or failed, call `_ended`. */
bool link_source_permits(struct link_source *s);
void link_source_begun(struct link_source *s);
void link_source_ended(struct link_source *s, const struct error *err);

#endif
