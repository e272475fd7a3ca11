/*
 * bursts.h - detects scanners: visitors that request too many codes, or too
 * many codes that do not exist, in too short a time.
 *
 * The events' own time counts, so that catching up after an outage makes no
 * visitor a scanner.  Memory is bounded: the last few requests of each visitor
 * are kept, and when there are more visitors than memory, those that were idle
 * for longest are dropped.  As a result a scanner may be found later or not at
 * all, but no person is taken for one.
 *
 * An event is in a burst if a window that ends with it, or an earlier window
 * that contains it, holds too many requests.  So the first events of a burst
 * are not recognised; `collector rescore` checks both directions.
 *
 * Belongs to one thread.
 */
#ifndef COLLECTOR_ENRICH_BURSTS_H
#define COLLECTOR_ENRICH_BURSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct bursts_limits {
	int64_t window; /* ms */
	/* Limit of different codes, 2 or more; 0: no limit. */
	int64_t codes;
	int64_t not_found; /* limit of requests, 2 or more; 0: no limit */
};

struct bursts;

/* Allocates `bytes_max` of memory at once, or a little less. */
struct bursts *bursts_new(const struct bursts_limits *limits, size_t bytes_max,
			  struct error *err);
void bursts_free(struct bursts *b); /* NULL accepted */

enum burst {
	BURST_NONE,
	BURST_CODES,
	BURST_NOT_FOUND,
};

enum {
	BURSTS_VISITOR_LEN = 8
};

/* A request of that visitor will be noted soon: prefetches its entry. */
void bursts_expect(const struct bursts *b,
		   const unsigned char visitor[BURSTS_VISITOR_LEN]);

/*
 * Notes a request.  `visitor` is a hash that outsiders cannot choose (the first
 * bytes of the visitor's identity).  A request that is noted again counts once.
 */
enum burst bursts_note(struct bursts *b,
		       const unsigned char visitor[BURSTS_VISITOR_LEN],
		       int64_t ts, const char *code, bool not_found);

#endif
