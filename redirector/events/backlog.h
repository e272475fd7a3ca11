/*
 * backlog.h - detects when a backlog of events that waited for Kafka in memory
 * is gone, so that memory which malloc keeps can be returned to the system.
 *
 * Called about once a second.  Belongs to one thread.
 */
#ifndef REDIRECTOR_EVENTS_BACKLOG_H
#define REDIRECTOR_EVENTS_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>

enum {
	/* This many events that wait at once are a backlog. */
	BACKLOG_MIN = 8192,
	/* A backlog is low when no more than this many wait: they may be
	 * batches on their way to Kafka. */
	BACKLOG_LEFT = 4096,
	/* The backlog is low, too, at no more than this fraction of its peak,
	 * since many events may always be on their way. */
	BACKLOG_PART = 4,
	/* The backlog is gone after this many low values in a row, so that a
	 * dip between batches does not count. */
	BACKLOG_LOW = 5,
};

struct backlog {
	size_t most; /* highest number in this backlog */
	unsigned low;
};

/* `waiting` is the number of events that wait now.  Returns true once for each
 * backlog. */
bool backlog_has_gone(struct backlog *b, size_t waiting);

#endif
