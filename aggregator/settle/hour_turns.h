/*
 * hour_turns.h - which of the stale hours a pass settles, and in which order,
 * so that neither an hour that always fails nor thousands of imported hours
 * keep the others from being settled.
 *
 * There are three classes of hours: present hours, hours that the watermark
 * waits for, and hours behind it.  In each class, a pass settles at least the
 * hours of one statement, the oldest first, and starts no more after
 * settle_every.  The next pass continues behind the last hour that had its
 * turn; so an hour that failed is tried again after the others of its class.
 *
 * One thread.
 */
#ifndef AGGREGATOR_SETTLE_HOUR_TURNS_H
#define AGGREGATOR_SETTLE_HOUR_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/progress.h"
#include "aggregator/settle/open_hours.h"
#include "aggregator/settle/settling.h"
#include "common/error.h"

enum hour_class {
	HOURS_PRESENT, /* not over, or over for less than an hour */
	HOURS_AWAITED, /* not behind the watermark */
	HOURS_BEHIND,
	HOUR_CLASSES
};

struct hour_turn {
	/* The last hour that had its turn, seconds since 1970; -1: begin with
	 * the first. */
	int64_t after;
	/* The first of the hours whose statement got no answer; -1: none
	 * yet. */
	int64_t unanswered;
	/*
	 * Set then, until all hours have had their turn: each statement's hours
	 * are published by themselves, so that a statement which never gets an
	 * answer does not delay others.
	 */
	bool singly;
};

struct hour_turns {
	struct hour_turn classes[HOUR_CLASSES];
};
void hour_turns_init(struct hour_turns *turns);

struct hours_settled {
	size_t hours; /* hours published */
	size_t added; /* hours published from the rows that arrived */
	size_t left;  /* hours not settled: they failed, or had no turn */
	bool more;    /* some hours left had no turn */
	/* The first hour left of those that the watermark waits for, seconds
	 * since 1970; INT64_MAX: none. */
	int64_t left_from;
};

/*
 * Settles some of the hours in `stale`.  An hour that fails is left.  *first
 * gets the first error, also that of an hour which was settled by a retry.
 * Returns -1 if the others were not tried: the process is stopping, or
 * ClickHouse or the lease's Redis did not answer.  `open`: as for hours_settle.
 * `last` has the watermark.
 */
int hour_turns_take(struct hour_turns *turns, const struct settling *s,
		    const struct stale_list *stale, struct open_hours *open,
		    const struct progress *last, struct hours_settled *ret,
		    struct error *first, struct error *err);

#endif
