/*
 * hour_turns.h - which of the stale hours a pass settles, and in which order,
 * so that neither one that always fails nor thousands that were imported keep
 * the others from being settled.
 *
 * Hours have their turn in three classes: those of the present, those that the
 * watermark waits for, and those behind it.  Of each class, a pass settles
 * those of one statement at least, the oldest first, and begins no more when
 * settle_every has gone by.  The next one goes on behind the last that had its
 * turn; so one that failed has another when the others of its class had theirs.
 *
 * One thread.
 */
#ifndef AGGREGATOR_SETTLE_HOUR_TURNS_H
#define AGGREGATOR_SETTLE_HOUR_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/settle/open_hours.h"
#include "aggregator/settle/progress.h"
#include "aggregator/settle/settling.h"
#include "common/error.h"

enum hour_class {
	HOURS_PRESENT, /* not over, or not for an hour */
	HOURS_AWAITED, /* not behind the watermark */
	HOURS_BEHIND,
	HOUR_CLASSES
};

struct hour_turn {
	/* The last hour that had its turn, seconds since 1970; -1: begin with
	 * the first. */
	int64_t after;
	/* The first of those that no answer came for; -1: none yet. */
	int64_t unanswered;
	/* Since then, until all have had their turn: what each statement
	 * computes is published by itself, so that one that is never answered
	 * does not keep others from that. */
	bool singly;
};

struct hour_turns {
	struct hour_turn classes[HOUR_CLASSES];
};
void hour_turns_init(struct hour_turns *turns);

struct hours_settled {
	size_t hours; /* published */
	size_t added; /* of them: by what arrived */
	size_t left;  /* not settled: they failed, or had no turn */
	bool more;    /* some of these had no turn */
	/* The first of those left that the watermark waits for, seconds since
	 * 1970; INT64_MAX: none. */
	int64_t left_from;
};

/*
 * Settles some of the hours in `stale`.  An hour that fails is left.  The error
 * is in *first, unless there is one; also of those that were settled when they
 * were tried again.  Returns -1 when no others were tried: it is to stop, or
 * ClickHouse or the lease's Redis did not answer.  `open`: as for hours_settle.
 * `last` has the watermark.
 */
int hour_turns_take(struct hour_turns *turns, const struct settling *s,
		    const struct stale_list *stale, struct open_hours *open,
		    const struct progress *last, struct hours_settled *ret,
		    struct error *first, struct error *err);

#endif
