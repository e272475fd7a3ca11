/*
 * link_finding.h - decides what a caller may know of the link that a look-up
 * has found, for readers and editors alike.
 */
#ifndef ALLOCATOR_LINK_LINK_FINDING_H
#define ALLOCATOR_LINK_LINK_FINDING_H

#include "common/http/http_server.h"
#include "common/keys/api_keyring.h"
#include "common/metrics/metrics.h"
#include "linkstore/block/lookup.h"
#include "linkstore/linkstore.h"

/* Look-ups by outcome; shared by all threads. */
struct link_finding_metrics {
	struct metric *found, *unknown, *gone, *failed;
};
void link_finding_metrics_register(struct link_finding_metrics *fm,
				   struct metrics *m);

/* Why there is no link for the caller.  `detail` is a literal. */
struct link_refusal {
	int status; /* 404, 410, 503; 0: it is not refused */
	const char *detail;
};

/* The refusal of a code that has no link. */
struct link_refusal link_finding_unknown(void);

/* Fills in the place of a code in Redis, unless no link can have the code. */
struct link_refusal link_finding_locate(const struct linkstore *store,
					struct http_slice code,
					struct link_target *ret_target);

/*
 * Refuses what the caller may not work on.  A link that the caller may neither
 * read nor change gets the same bytes as a link that does not exist.  A caller
 * that does not see all links gets them for an expired link, too: its owner is
 * no longer known.
 */
struct link_refusal link_finding_refuse(const struct api_key_info *caller,
					const struct link_answer *answer);

/* Counts a refusal. */
void link_finding_count(const struct link_finding_metrics *fm, int status);

#endif
