/*
 * settled.h - what was settled, against the rows that it was settled from.
 *
 * Only what the aggregator takes to be up to date is compared: an hour or day
 * of which more was reported since is waiting, not wrong; unless the aggregator
 * has said since that it settled all that was reported, or rows are gone, so
 * that it holds the hour or day back.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_SETTLED_H
#define COLLECTOR_TOOLS_VERIFY_SETTLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/tools/verify/ask.h"

enum settled_what {
	SETTLED_STATS,	/* an hour: stats_hourly */
	SETTLED_SLOTS,	/* a day: link_slots */
	SETTLED_VISITS, /* a day: link_days */
	SETTLED_NEVER,	/* an hour: rows that no collector reported */
	/* an hour: rows that the aggregator said it settled, and has not */
	SETTLED_OVERDUE,
	/* rows are gone: what was published before stays */
	SETTLED_HELD_BACK_HOUR,
	SETTLED_HELD_BACK_DAY,
};
/* The table, or "-"; "overdue" and the like, and a line of what that means. */
const char *settled_table(enum settled_what what);
const char *settled_name(enum settled_what what);
const char *settled_text(enum settled_what what);

/* A count that is wrong. */
struct settled_difference {
	enum settled_what what;
	int64_t start;	  /* seconds since 1970 */
	uint64_t rows;	  /* there are */
	uint64_t settled; /* were counted */
};

/* All zero to begin with. */
struct settled {
	bool compared;	      /* something was, or was to be */
	uint64_t hours, days; /* that agree */
	uint64_t hours_waiting, days_waiting;
	int64_t oldest_waiting; /* an hour, seconds since 1970; 0: none */
	struct settled_difference *list;
	size_t count, room;
};
void settled_free(struct settled *s);

/* Rows that may have come in since the collectors were asked: of the topic, in
 * the partition's epoch, at its `due` or later. */
struct settled_snapshot {
	const uint32_t *epochs; /* by partition */
	const uint64_t *due;
	size_t partitions;
};

/* Compares the hours and days that [from, to) touches, ms. */
int settled_check(struct ask *a, const struct settled_snapshot *snapshot,
		  int64_t from, int64_t to, struct settled *ret,
		  struct error *err);

#endif
