/*
 * cut_search.h - where a log and what was stored of it part, by looking at few
 * events of many.
 *
 * Up to some event the log has those that were stored, from there on others.
 * So bisection finds the place; but of some events the log has nothing, and
 * these say nothing of where it is: then the nearest event that says something
 * is looked at in place of the middle one, first before it, then behind it.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_CUT_SEARCH_H
#define COLLECTOR_EXACTLY_ONCE_CUT_SEARCH_H

#include <stddef.h>

#include "common/error.h"

/* The log has, where an event was stored: */
enum cut_found {
	CUT_FOUND_SAME,
	CUT_FOUND_OTHER,
	/* Nothing.  That proves nothing: a transaction ended there, or the
	 * topic was compacted, in the log that was read or in a new one. */
	CUT_FOUND_HOLE,
};

/* Looks at event `at`. */
typedef int cut_look_fn(void *arg, size_t at, enum cut_found *ret,
			struct error *err);

/*
 * Of `count` events, ascending: those before *ret_there are the same, or holes
 * before one that is; *ret_other and those behind it are others, or holes; what
 * is between the two are holes.  Fails when a look does.
 */
int cut_search(size_t count, cut_look_fn *look, void *arg, size_t *ret_there,
	       size_t *ret_other, struct error *err);

#endif
