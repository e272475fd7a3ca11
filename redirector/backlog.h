/*
 * backlog.h - whether events that waited for Kafka in memory have gone, so that
 * what malloc keeps of theirs can be given back to the system.
 *
 * Asked about once a second.  Belongs to one thread.
 */
#ifndef REDIRECTOR_BACKLOG_H
#define REDIRECTOR_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>

enum {
	/* Fewer are some batches on their way. */
	BACKLOG_MIN = 4096,
	/* It is gone when so small a part of it waits, */
	BACKLOG_PART = 4,
	/* each time of so many, so that no valley between batches is its end.
	 */
	BACKLOG_LOW = 5,
};

struct backlog {
	size_t most; /* that waited, since the last one ended */
	unsigned low;
};

/* `waiting`: events that wait now.  True once for each backlog. */
bool backlog_has_gone(struct backlog *b, size_t waiting);

#endif
