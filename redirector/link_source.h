/*
 * link_source.h - where a thread looks links up: which server it asks, when,
 * for how long, and how many questions it has under way.
 *
 *	ask --> a replica may have it --> a live link, as it is now --> found
 *	 |          |
 *	 |          v   it has none, is late, fails, or the link has changed
 *	 +----> the master --> breaker closed --> asked, or waits for its turn
 *	            |                                |
 *	            v   breaker open: refused        |
 *	        a replica may stand in, as it was <--+ failed
 *	                                             v   late
 *	                                          failed
 *
 * A replica is asked only for what it is known to have all of
 * (replica_position.h): a link that was not named as changed since.  What it
 * says is believed as of then, or as of the last heartbeat of the channel of
 * changes, and only that a link is there, or blocked; that there is none, or
 * no longer, only the master can say.
 *
 * Neither is believed of a link that was named as changed by another Redis: a
 * former master does not know what its successor was told
 * (freshness_elsewhere_since).
 *
 * While the master cannot be asked, what a replica has is as good as what a
 * cache has: it may stand in for `cache_stale`.
 *
 * Belongs to its loop's thread.
 */
#ifndef REDIRECTOR_LINK_SOURCE_H
#define REDIRECTOR_LINK_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "linkstore/block/lookup.h"
#include "redirector/freshness.h"
#include "redirector/lookup_health.h"
#include "redirector/redirector_metrics.h"
#include "redirector/server.h"

struct link_source;

struct link_found {
	const struct link_answer *answer; /* during the call */
	struct freshness_mark asked;	  /* as of when it is so */
	int64_t sent; /* when it was asked for, monotonic ms */
};

/* `found`, or NULL: err says why not, and `why` is how that 503 counts, as in
 * responder_send_unavailable. */
typedef void link_found_fn(void *arg, const struct link_found *found,
			   enum redirector_counter why,
			   const struct error *err);

/* All of them must outlive it. */
struct link_source *link_source_new(const struct server_context *server,
				    struct freshness_reader *changes,
				    struct redirector_counters *counters,
				    struct error *err);
/* After the connections' ends, which end all questions.  NULL accepted. */
void link_source_free(struct link_source *s);

/* This link was named as changed. */
void link_source_note_change(struct link_source *s, struct http_slice code);
/* The connection to this server is new. */
void link_source_connected(struct link_source *s, enum lookup_server of);

/*
 * Looks a link up.  0: `fn` is called once, later, within lookup_timeout.  -1:
 * never, and *ret_why is how that counts.  `stand_in`: that a replica has it
 * may do, if the master cannot be asked.
 */
int link_source_ask(struct link_source *s, const struct link_target *target,
		    bool stand_in, link_found_fn *fn, void *arg,
		    enum redirector_counter *ret_why, struct error *err);

/* For other questions to the master, which the breaker counts as well: may it
 * be asked?  When it was, `_begun`, and when it has answered (NULL) or failed,
 * `_ended`. */
bool link_source_permits(struct link_source *s);
void link_source_begun(struct link_source *s);
void link_source_ended(struct link_source *s, const struct error *err);

#endif
