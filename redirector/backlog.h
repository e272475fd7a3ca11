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
	/* As many that wait at once are a backlog, */
	BACKLOG_MIN = 8192,
	/* and as few are some batches on their way, */
	BACKLOG_LEFT = 4096,
	/* or so small a part of what it was, where much is on its way always.
	 */
	BACKLOG_PART = 4,
	/* So many times in a row: no valley between batches is its end. */
	BACKLOG_LOW = 5,
};

struct backlog {
	size_t most; /* that waited, since the last one ended */
	unsigned low;
};

/* `waiting`: events that wait now.  True once for each backlog. */
bool backlog_has_gone(struct backlog *b, size_t waiting);

#endif
