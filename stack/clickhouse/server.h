/*
 * server.h - ClickHouse's HTTP interface: paths, users, queries, answers.
 *
 * HTTP on one loop; queries on worker threads, each request in a session of its
 * own unless it names one.
 */
#ifndef STACK_CLICKHOUSE_SERVER_H
#define STACK_CLICKHOUSE_SERVER_H

#include <stdbool.h>

#include "common/error.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "stack/clickhouse/options.h"

struct server;

/* Opens the engine and listens.  `options` and `log` must outlive it. */
struct server *server_new(struct loop *loop, const struct options *options,
			  struct log *log, struct error *err);

/* Answers what it has, 20 s long at most, then stops the loop. */
void server_drain(struct server *s);

/* Are queries still running?  They cannot be cut short: the process can only
 * end without them.  Accepts NULL. */
bool server_is_busy(const struct server *s);

/* After the loop has ended.  Closes the engine.  Accepts NULL. */
void server_free(struct server *s);

#endif
