/*
 * server.h - ClickHouse's HTTP interface: paths, users, queries, answers.
 *
 * HTTP runs on one loop; queries run on worker threads, each request in a
 * session of its own unless it names one.
 */
#ifndef STACK_CLICKHOUSE_SERVER_H
#define STACK_CLICKHOUSE_SERVER_H

#include <stdbool.h>

#include "common/error.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "stack/clickhouse/options.h"

struct server;

/* Opens the engine and listens.  `options` and `log` must outlive the
 * server. */
struct server *server_new(struct loop *loop, const struct options *options,
			  struct log *log, struct error *err);

/* Answers pending requests, for 20 s at most, then stops the loop. */
void server_drain(struct server *s);

/* Returns true if queries are still running.  They cannot be interrupted: the
 * process has to end without them.  NULL accepted. */
bool server_is_busy(const struct server *s);

/* Closes the engine.  Call it after the loop has ended.  NULL accepted. */
void server_free(struct server *s);

#endif
