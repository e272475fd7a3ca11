/*
 * clocks.h - times that lie beyond ClickHouse's clock: in what the collectors
 * reported, and in what the aggregator promised from it.
 *
 * No such time is believed as long as it lies there.  Once it has passed it
 * looks like any other: an idle report of tomorrow then vouches for a day of
 * which nobody has reported.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_CLOCKS_H
#define COLLECTOR_TOOLS_VERIFY_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "collector/tools/verify/ask.h"

/* The clocks of ClickHouse's replicas may differ; the aggregator warns of
 * more than this, too. */
#define CLOCKS_LIMIT "(now64(3, 'UTC') + toIntervalMinute(1))"

enum ahead_kind {
	AHEAD_STORED,	/* reports: inserted_at */
	AHEAD_APPENDED, /* other reports: append_time */
	AHEAD_READ,	/* settled: how far reports were read */
	AHEAD_PROMISED, /* settled: the watermark */
};

/* "stored ahead", and a line of what that means and what mends it. */
const char *ahead_name(enum ahead_kind kind);
const char *ahead_text(enum ahead_kind kind);

struct ahead {
	enum ahead_kind kind;
	/* Of reports.  An idle one stands at the offset that would come next.
	 */
	uint32_t partition, epoch;
	uint64_t first, last; /* least and greatest offset */
	uint64_t reports;     /* 0: it is of no partition */
	int64_t time_ms;      /* the latest of them */
	int64_t server_ms;    /* ClickHouse's clock */
};

/* All zero to begin with. */
struct clocks {
	struct ahead *list;
	size_t count, room;
};
void clocks_free(struct clocks *c);

/* All reports of the topic, whenever they came. */
int clocks_check_reports(struct ask *a, struct clocks *ret, struct error *err);

/* What is promised now: not what was mended since. */
int clocks_check_settled(struct ask *a, struct clocks *ret, struct error *err);

#endif
