/*
 * clocks.h - finds times later than ClickHouse's clock, in the collectors'
 * reports and in the aggregator's watermark.
 *
 * Such a time is ignored while it is in the future.  Once it has passed it
 * looks like any other: an idle report of tomorrow would then cover a day that
 * no collector has reported.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_CLOCKS_H
#define COLLECTOR_TOOLS_VERIFY_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "collector/tools/verify/ask.h"

/* The clocks of ClickHouse's replicas may differ; the aggregator uses the same
 * limit for its warning. */
#define CLOCKS_LIMIT "(now64(3, 'UTC') + toIntervalMinute(1))"

enum ahead_kind {
	AHEAD_STORED,	/* inserted_at of reports */
	AHEAD_APPENDED, /* append_time of other reports */
	AHEAD_READ,	/* settled: time up to which reports were read */
	AHEAD_PROMISED, /* settled: the watermark */
};

/* Returns "stored ahead", or a line that explains it and its remedy. */
const char *ahead_name(enum ahead_kind kind);
const char *ahead_text(enum ahead_kind kind);

struct ahead {
	enum ahead_kind kind;
	/* For reports.  An idle report has the next offset. */
	uint32_t partition, epoch;
	uint64_t first, last; /* least and greatest offset */
	uint64_t reports;     /* 0: no partition is affected */
	int64_t time_ms;      /* the latest time */
	int64_t server_ms;    /* ClickHouse's clock */
};

/* Initialise it with zeros. */
struct clocks {
	struct ahead *list;
	size_t count, room;
};
void clocks_free(struct clocks *c);

/* Checks all reports of the topic, of any time. */
int clocks_check_reports(struct ask *a, struct clocks *ret, struct error *err);

/* Checks the present values: not those that were mended since. */
int clocks_check_settled(struct ask *a, struct clocks *ret, struct error *err);

#endif
