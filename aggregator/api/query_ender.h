/*
 * query_ender.h - ends queries whose answer nobody waits for, on a thread and a
 * connection of its own: those that wait for answers may all be busy.
 */
#ifndef AGGREGATOR_API_QUERY_ENDER_H
#define AGGREGATOR_API_QUERY_ENDER_H

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

/* ClickHouse's, of questions: exports have the next, and give way. */
#define QUESTION_PRIORITY 1
#define EXPORT_PRIORITY	  2

struct query_ender;

/* The texts of `config` must outlive it. */
struct query_ender *query_ender_new(const struct clickhouse_config *config,
				    struct log *log, struct metrics *metrics,
				    struct error *err);
/* Ends what it was asked to, then its thread; of a server that does not answer
 * it does not ask more than once.  NULL accepted. */
void query_ender_free(struct query_ender *e);

/* Gives a task the id that its queries are found by. */
void query_ender_name(struct query_ender *e, struct clickhouse_task *task);

/* Marks the task as cancelled and ends its query on the server soon.  From any
 * thread; the task is not used after it returns. */
void query_ender_cancel(struct query_ender *e, struct clickhouse_task *task);

/* Once nothing more is asked in a task: ends its query on the server soon, if
 * it was given up there without an answer, as one whose deadline is over.  From
 * the thread that asked; the task is not used after it returns. */
void query_ender_finish(struct query_ender *e,
			const struct clickhouse_task *task);

#endif
