/*
 * cut_search.h - finds where a log and what was stored of it differ, by
 * checking few of many events.
 *
 * Up to some event the log has the stored events, from there on others:
 * bisection finds the place.  But the log has holes, and a hole does not show
 * on which side of the place it is.  Then the nearest event that is not a hole
 * is checked in place of the middle one, first before it, then after it.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_CUT_SEARCH_H
#define COLLECTOR_EXACTLY_ONCE_CUT_SEARCH_H

#include <stddef.h>

#include "common/error.h"

/* The log at the offset of a stored event has: */
enum cut_found {
	CUT_FOUND_SAME,
	CUT_FOUND_OTHER,
	/* No event.  That proves nothing: a transaction ended there, or the
	 * topic was compacted, in the log that was read or in a new one. */
	CUT_FOUND_HOLE,
};

/* Checks event `at`. */
typedef int cut_look_fn(void *arg, size_t at, enum cut_found *ret,
			struct error *err);

/*
 * Searches `count` events, ascending.  The events before *ret_there are the
 * same, or holes before such an event; *ret_other and the events after it are
 * others, or holes; all events between the two are holes.  Fails when a check
 * fails.
 */
int cut_search(size_t count, cut_look_fn *look, void *arg, size_t *ret_there,
	       size_t *ret_other, struct error *err);

#endif
