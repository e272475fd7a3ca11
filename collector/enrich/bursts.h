/*
 * bursts.h - visitors that ask for too many codes, or for too many that are not
 * there, in too short a time: scanners.
 *
 * By the events' own time, so that catching up after an outage makes nobody a
 * scanner, and in bounded memory: of each visitor the last few requests are
 * known, and when there are more visitors than memory, those are forgotten who
 * have been quiet for longest.  Forgetting means a scanner found later or not
 * at all, never a person taken for one.
 *
 * An event is in a burst when a window that ends with it, or one found before
 * that it falls into, holds too many.  The first events of a burst are
 * therefore not recognised; `collector rescore` looks in both directions.
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
	int64_t window;	   /* ms */
	int64_t codes;	   /* so many different ones, 2 or more; 0: never */
	int64_t not_found; /* so many requests, 2 or more; 0: never */
};

struct bursts;

/* Takes `bytes_max` of memory at once, or a little less. */
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

/* A request of that visitor will be noted soon: what is known is brought near.
 */
void bursts_expect(const struct bursts *b,
		   const unsigned char visitor[BURSTS_VISITOR_LEN]);

/*
 * Notes a request.  `visitor` is a hash that strangers cannot aim (the first
 * bytes of the visitor's identity).  The same request noted again counts once.
 */
enum burst bursts_note(struct bursts *b,
		       const unsigned char visitor[BURSTS_VISITOR_LEN],
		       int64_t ts, const char *code, bool not_found);

#endif
