/*
 * clickhouse.h - ClickHouse over HTTP: one handle, one request at a time.
 *
 * Not thread-safe: a handle per thread.  Keeps its connection.  Errors carry
 * ClickHouse's own code and text; "cannot connect", timeouts, 5xx without an
 * exception code and codes known to be passing (TOO_MANY_PARTS, memory limits,
 * read-only ...) are retriable.
 *
 * libcurl repeats a request whose kept connection closes without a byte of
 * answer, although the server may have carried it out (libcurl: lib/transfer.c,
 * Curl_retry_request).  So only questions (SELECT and its like) go out on a
 * kept connection; whatever changes something gets a connection of its own and
 * is sent once.  What came of one that failed is then not known, and the
 * caller's to find out.
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
	char *cluster;	/* whose servers share the tables, or NULL */
	char *ca_file;
	int64_t connect_timeout; /* ms */
	int64_t query_timeout;	 /* ms, the whole request */
	int64_t response_max;	 /* bytes of one answer; more is an error */
	char *compression;	 /* zstd | gzip | none, of what is inserted */
};
extern const struct setting_section clickhouse_section; /* "clickhouse" */

struct clickhouse;

struct clickhouse *clickhouse_new(const struct clickhouse_config *config,
				  struct error *err);
void clickhouse_free(struct clickhouse *ch); /* NULL accepted */

/* Ends the request under way within a second or so, and all to come, as failed.
 * From any thread. */
void clickhouse_abort(struct clickhouse *ch);

/* One URL parameter: a ClickHouse setting, or "param_x" for a {x:Type} in the
 * query - the only way values get into a query.  The server reads a {x:String}
 * as tab-separated text does, backslashes being escapes: text from outside
 * goes through clickhouse_escape first. */
struct clickhouse_param {
	const char *name; /* NULL ends a list */
	const char *value;
};

/* Appends `text` as the value of a {x:String} and a NUL that is not counted. */
void clickhouse_escape(struct buf *out, const char *text, size_t len);

/*
 * What questions are asked for, and what ends them: any thread may, while
 * another waits for the answer.  Each has a query_id of its own, "<id>#<n>", by
 * which clickhouse_end_queries finds it on the server.  Statements that change
 * something are not asked in a task.
 *
 * The owner fills in `id`, of [0-9A-Za-z_.-], `priority` (ClickHouse's, 0:
 * none; the greater gives way), `nice` (of the server's threads, where it may
 * set that) and `deadline` (of clock_monotonic_ms, 0: none), the rest zeroed.
 */
struct clickhouse_task {
	char id[64];
	unsigned priority;
	unsigned nice; /* 0: as they are */
	int64_t deadline;
	atomic_bool cancelled; /* set by anybody: ended within a second or so */
	unsigned asked;
	/* Of one that was sent not all of the answer was read: the server may
	 * still be at it.  The asking thread's. */
	bool unanswered;
};

/* Queries of `ch` are asked in `task` from here on, in none if it is NULL: they
 * read only, the server ends them when query_timeout or the task's deadline is
 * over or the connection closes, after `cancelled` they fail with
 * CLICKHOUSE_CANCELLED, and after the deadline as if nobody answered. */
void clickhouse_set_task(struct clickhouse *ch, struct clickhouse_task *task);

#define CLICKHOUSE_CANCELLED "cancelled: nobody waits for the answer"

/* Ends, wherever it runs, the query of this id and all whose ids are the same
 * up to a '#'; waits for it. */
int clickhouse_end_queries(struct clickhouse *ch, const char *id,
			   struct error *err);

/* "GET /ping" answers Ok. */
int clickhouse_ping(struct clickhouse *ch, struct error *err);

/* Whether a statement only reads, so that it may be sent twice.  By its first
 * word; what is not known to read is taken to change something. */
bool clickhouse_is_question(const char *query);

/* Runs a query; the answer's body is appended to `out` (may be NULL), in the
 * query's own FORMAT.  `params` may be NULL. */
int clickhouse_query(struct clickhouse *ch, const char *query,
		     const struct clickhouse_param *params, struct buf *out,
		     struct error *err);

/* The same with data after the query: "INSERT INTO t FORMAT RowBinary". The
 * data is compressed as configured and sent with a known length. */
int clickhouse_insert(struct clickhouse *ch, const char *query,
		      const struct clickhouse_param *params, const void *data,
		      size_t len, struct error *err);

/* ClickHouse's exception code of the last failure (X-ClickHouse-Exception-Code
 * or parsed from the body), or 0. */
int clickhouse_last_code(const struct clickhouse *ch);

#endif
