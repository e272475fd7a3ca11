/*
 * settled.h - compares the settled counts with the rows.
 *
 * Only hours and days that the aggregator considers up to date are compared.
 * If more was reported since, an hour or day is waiting, not wrong; unless the
 * aggregator has recorded since that it settled all reports, or rows are gone,
 * so that it holds the hour or day back.
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
	/* an hour: the aggregator recorded the rows as settled, wrongly */
	SETTLED_OVERDUE,
	/* Rows are gone: the values published before stay. */
	SETTLED_HELD_BACK_HOUR,
	SETTLED_HELD_BACK_DAY,
};
/* Returns the table, or "-"; "overdue" etc.; a line that explains it. */
const char *settled_table(enum settled_what what);
const char *settled_name(enum settled_what what);
const char *settled_text(enum settled_what what);

/* A count that is wrong. */
struct settled_difference {
	enum settled_what what;
	int64_t start;	  /* seconds since 1970 */
	uint64_t rows;	  /* present rows */
	uint64_t settled; /* counted rows */
};

/* Initialise it with zeros. */
struct settled {
	bool compared;	      /* something was compared, or is waiting */
	uint64_t hours, days; /* number that agree */
	uint64_t hours_waiting, days_waiting;
	int64_t oldest_waiting; /* an hour, seconds since 1970; 0: none */
	struct settled_difference *list;
	size_t count, room;
};
void settled_free(struct settled *s);

/* Rows that may have arrived since the collectors' offsets were read: those of
 * the topic, in the partition's epoch, at its `due` or later. */
struct settled_snapshot {
	const uint32_t *epochs; /* one per partition */
	const uint64_t *due;
	size_t partitions;
};

/* Compares the hours and days that overlap [from, to), ms. */
int settled_check(struct ask *a, const struct settled_snapshot *snapshot,
		  int64_t from, int64_t to, struct settled *ret,
		  struct error *err);

#endif
