/*
 * seen.h - what a program has seen of a space (promise 10).
 *
 * A Redis that goes back to what it was before, whatever the reason, is found
 * out by those who have seen more than it knows.  Whoever grants, lifts or
 * settles tells Redis what it has seen, and learns what there is to be seen.
 */
#ifndef LINKSTORE_SPACE_SEEN_H
#define LINKSTORE_SPACE_SEEN_H

#include <stdint.h>

struct space_seen {
	uint64_t cursor;     /* one above the highest block; 0: none */
	uint64_t moves;	     /* what the record counted: it never goes down */
	uint32_t generation; /* the highest granted; 0: none */
};

/* Raises each of *seen to what `more` has. */
static inline void space_seen_raise(struct space_seen *seen,
				    const struct space_seen *more)
{
	if (seen->cursor < more->cursor)
		seen->cursor = more->cursor;
	if (seen->moves < more->moves)
		seen->moves = more->moves;
	if (seen->generation < more->generation)
		seen->generation = more->generation;
}

#endif
