/*
 * clickhouse.h - ClickHouse over HTTP: one handle, one request at a time.
 *
 * Not thread-safe: a handle per thread.  Keeps its connection.  Errors carry
 * ClickHouse's own code and text; "cannot connect", timeouts, 5xx without an
 * exception code and codes known to be temporary (TOO_MANY_PARTS, memory
 * limits, read-only ...) are retriable.
 *
 * libcurl repeats a request if its kept connection closes without a byte of
 * answer, although the server may have executed it (libcurl: lib/transfer.c,
 * Curl_retry_request).  So only statements that read (SELECT and its like) use
 * a kept connection; a statement that changes something gets a connection of
 * its own and is sent once.  If it fails, its effect is unknown, and the caller
 * has to find out.
 */
#ifndef COMMON_CLICKHOUSE_CLICKHOUSE_H
#define COMMON_CLICKHOUSE_CLICKHOUSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/config/setting.h"
#include "common/error.h"

struct clickhouse_config {
	char *url; /* http://host:8123 or https://... */
	char *database;
	char *username;
	char *password; /* secret */
	char *cluster; /* the cluster whose servers share the tables, or NULL */
	char *ca_file;
	int64_t connect_timeout; /* ms */
	int64_t query_timeout;	 /* ms, the whole request */
	int64_t response_max;	 /* bytes of one answer; more is an error */
	char *compression;	 /* zstd | gzip | none, for inserted data */
};
extern const struct setting_section clickhouse_section; /* "clickhouse" */

struct clickhouse;

/* `config` must outlive it. */
struct clickhouse *clickhouse_new(const struct clickhouse_config *config,
				  struct error *err);
void clickhouse_free(struct clickhouse *ch); /* NULL accepted */

/* Makes the current request fail within about a second, and all later ones at
 * once.  Callable from any thread. */
void clickhouse_abort(struct clickhouse *ch);

/* One URL parameter: a ClickHouse setting, or "param_x" for a {x:Type} in the
 * query - the only way to put values into a query.  The server reads a
 * {x:String} as tab-separated text, in which backslashes are escapes: text from
 * outside goes through clickhouse_escape first. */
struct clickhouse_param {
	const char *name; /* NULL ends a list */
	const char *value;
};

/* Appends `text` as the value of a {x:String}, and a NUL that is not
 * counted. */
void clickhouse_escape(struct buf *out, const char *text, size_t len);

/*
 * A group of queries that another thread can cancel while one waits for the
 * answer.  Each query has a query_id of its own, "<id>#<n>", by which
 * clickhouse_end_queries finds it on the server.  Statements that change
 * something are not sent in a task.
 *
 * The owner fills in `id`, of [0-9A-Za-z_.-], `priority` (ClickHouse's, 0:
 * none; a greater number yields), `nice` (of the server's threads, if it may
 * set that) and `deadline` (of clock_monotonic_ms, 0: none), the rest zeroed.
 */
struct clickhouse_task {
	char id[64];
	unsigned priority;
	unsigned nice; /* 0: unchanged */
	int64_t deadline;
	atomic_bool cancelled; /* any thread may set it; queries then end within
				  about a second */
	unsigned asked;
	/* A query was sent and its answer was not read to the end: the server
	 * may still execute it.  Used by the querying thread only. */
	bool unanswered;
};

/* Queries of `ch` belong to `task` from here on, or to none if it is NULL.
 * They may only read; the server ends them when query_timeout or the task's
 * deadline is over or the connection closes; after `cancelled` they fail with
 * CLICKHOUSE_CANCELLED, and after the deadline like a timeout. */
void clickhouse_set_task(struct clickhouse *ch, struct clickhouse_task *task);

#define CLICKHOUSE_CANCELLED "cancelled: nobody waits for the answer"

/* Ends, on any server of the cluster, the query of this id and all queries
 * whose ids are equal up to a '#'; waits for that. */
int clickhouse_end_queries(struct clickhouse *ch, const char *id,
			   struct error *err);

/* Sends "GET /ping" and expects Ok. */
int clickhouse_ping(struct clickhouse *ch, struct error *err);

/* Returns true if a statement only reads, so that it may be sent twice.  It
 * decides by the first word; a statement that is not known to read counts as a
 * change. */
bool clickhouse_is_question(const char *query);

/* Runs a query; appends the answer's body to `out` (may be NULL), in the
 * query's own FORMAT.  `params` may be NULL. */
int clickhouse_query(struct clickhouse *ch, const char *query,
		     const struct clickhouse_param *params, struct buf *out,
		     struct error *err);

/* The same with data after the query: "INSERT INTO t FORMAT RowBinary". The
 * data is compressed as configured and sent with a known length. */
int clickhouse_insert(struct clickhouse *ch, const char *query,
		      const struct clickhouse_param *params, const void *data,
		      size_t len, struct error *err);

/* Returns ClickHouse's exception code of the last failure
 * (X-ClickHouse-Exception-Code or parsed from the body), or 0. */
int clickhouse_last_code(const struct clickhouse *ch);

#endif
