/*
 * renewer.h - renews links that are visited, so that they and their block stay
 * alive.
 *
 * A renewal is sent to Redis, and no visitor waits for it; one that fails is
 * counted, and the next visit tries again.  One that raised the link's end is
 * reported to the archive (renewals_report.h).  Belongs to its loop's thread.
 */
#ifndef REDIRECTOR_VISIT_RENEWER_H
#define REDIRECTOR_VISIT_RENEWER_H

#include "common/redis/redis_async.h"
#include "linkstore/block/lookup.h"
#include "linkstore/linkstore.h"
#include "redirector/redirector.h"

struct renewals_writer;

/* The parts that it works with; all of them must outlive the connection to
 * Redis. */
struct renewer {
	const struct redirector *redirector;
	struct loop *loop;
	struct redis_async *redis;
	struct redirector_counters *counters;
	struct renewals_writer *writer; /* NULL: renewals are not reported */
};

/* Renews the link, which is due, unless that was done within its interval. */
void renewer_renew(struct renewer *r, const struct link_target *target,
		   const Shortloop__Link *link);

/* Queries Redis whether the link is due, and renews it if it is. */
void renewer_check(struct renewer *r, const struct link_target *target);

#endif
