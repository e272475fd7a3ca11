/*
 * query_ender.h - ends queries whose answers are not needed any more.  It has a
 * thread and a connection of its own, because all threads that wait for answers
 * may be busy.
 */
#ifndef AGGREGATOR_API_QUERY_ENDER_H
#define AGGREGATOR_API_QUERY_ENDER_H

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

/* ClickHouse's priorities: exports come after questions, and give way. */
#define QUESTION_PRIORITY 1
#define EXPORT_PRIORITY	  2

struct query_ender;

/* The texts of `config` must outlive it. */
struct query_ender *query_ender_new(const struct clickhouse_config *config,
				    struct log *log, struct metrics *metrics,
				    struct error *err);
/* Ends the queued queries, then the thread.  If the server does not answer, the
 * other queries are skipped.  NULL accepted. */
void query_ender_free(struct query_ender *e);

/* Gives a task the id that its queries are found by. */
void query_ender_name(struct query_ender *e, struct clickhouse_task *task);

/* Marks the task as cancelled and ends its query on the server soon.  From any
 * thread; the task is not used after it returns. */
void query_ender_cancel(struct query_ender *e, struct clickhouse_task *task);

/* Call it when a task sends no more queries.  It ends the query on the server
 * soon if the task abandoned it without an answer, such as one past its
 * deadline.  From the thread that sent the query; the task is not used after it
 * returns. */
void query_ender_finish(struct query_ender *e,
			const struct clickhouse_task *task);

#endif
