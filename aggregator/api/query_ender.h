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

struct query_ender;

/* `config` must outlive it. */
struct query_ender *query_ender_new(const struct clickhouse_config *config,
				    struct log *log, struct metrics *metrics,
				    struct error *err);
/* Ends what it was asked to, then its thread.  NULL accepted. */
void query_ender_free(struct query_ender *e);

/* Gives a task the id that its queries are found by. */
void query_ender_name(struct query_ender *e, struct clickhouse_task *task);

/* Marks the task as cancelled and ends its query on the server soon.  From any
 * thread; the task is not used after it returns. */
void query_ender_cancel(struct query_ender *e, struct clickhouse_task *task);

#endif
