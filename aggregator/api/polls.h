/*
 * polls.h - answers polls of pages that have not changed, without a query: the
 * ETags of answers are remembered for as long as nothing that answers are made
 * of changes (freshness.h).  Thread-safe.
 *
 * Such an answer may be as old as a reading of the freshness, one
 * `watermark_every`.
 */
#ifndef AGGREGATOR_API_POLLS_H
#define AGGREGATOR_API_POLLS_H

#include <stdbool.h>

#include "aggregator/api/call.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/metrics/metrics.h"

struct polls;

struct polls *polls_new(struct metrics *metrics, struct error *err);
void polls_free(struct polls *p); /* NULL accepted */

/* A question to a route, by a key, at a state of the tables. */
struct poll {
	bool known; /* false: it is not remembered */
	unsigned char digest[32];
};

/* Call it before the route runs. */
void polls_begin(const struct call *call, const char *route, struct poll *ret);

/* Returns true if the answer is remembered and `if_none_match` names it: then
 * its ETag, and its headers as of now, are in the call. */
bool polls_answer(struct polls *p, const struct poll *poll,
		  struct http_slice if_none_match, struct call *call);

/* Remembers an answer that may be asked for again (call->polled). */
void polls_keep(struct polls *p, const struct poll *poll,
		const struct call *call);

#endif
