/*
 * ask.h - queries ClickHouse about one topic; the answers are numbers.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_ASK_H
#define COLLECTOR_TOOLS_VERIFY_ASK_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct ask {
	struct clickhouse *ch;
	const char *topic; /* {topic:String} in each query */
	const char *table; /* table of its rows: clicks or links */
	bool timed;	   /* the table has append_time */
	struct buf sql;	   /* scratch */
	struct buf answer;
};

void ask_release(struct ask *a);

/* Begins a new query: append to the returned buffer. */
struct buf *ask_begin(struct ask *a);

/* Appends " AND <time> >= ... AND <time> < ...", ms; `time`: an expression. */
void ask_put_times(struct ask *a, const char *time, int64_t since_ms,
		   int64_t until_ms);

/*
 * Runs the query and returns the rows, `columns` UInt64 each (the query casts),
 * as *ret_count * columns numbers that live until the next query.
 */
int ask_numbers(struct ask *a, size_t columns, const uint64_t **ret_numbers,
		size_t *ret_count, struct error *err);

#endif
