/*
 * ask.h - questions to ClickHouse about one topic, answered in numbers.
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
	const char *topic; /* {topic:String} in each question */
	const char *table; /* where its rows are: clicks or links */
	bool timed;	   /* these have append_time */
	struct buf sql;	   /* scratch */
	struct buf answer;
};

void ask_release(struct ask *a);

/* A new question: then buf_puts and buf_printf to what this returns. */
struct buf *ask_begin(struct ask *a);

/* " AND <time> >= ... AND <time> < ...", ms; `time`: a column or more. */
void ask_put_times(struct ask *a, const char *time, int64_t since_ms,
		   int64_t until_ms);

/*
 * Asks and hands out the rows, `columns` UInt64 each (the question casts), as
 * *ret_count * columns numbers that live until the next question.
 */
int ask_numbers(struct ask *a, size_t columns, const uint64_t **ret_numbers,
		size_t *ret_count, struct error *err);

#endif
