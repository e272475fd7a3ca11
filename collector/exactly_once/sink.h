/*
 * sink.h - puts batches into ClickHouse.  Belongs to one thread.
 *
 * Every insert says what it rests on, whatever the server's defaults and the
 * user's profile are: its token, synchronous, one block of one thread.  Nothing
 * is inserted into a server that is too old.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_SINK_H
#define COLLECTOR_EXACTLY_ONCE_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct sink;

struct sink *sink_new(const struct clickhouse_config *config,
		      struct error *err);
void sink_free(struct sink *s); /* NULL accepted */

/* The connection, for questions. */
struct clickhouse *sink_server(struct sink *s);

/* Has the server been started since this was asked last?  Not when it never
 * was. */
int sink_ask_restarted(struct sink *s, bool *ret, struct error *err);

/* Is the server there and new enough?  Asked once and after failures. */
int sink_check(struct sink *s, struct error *err);

/* Asks anew, and whether the tables are there. */
int sink_probe(struct sink *s, struct error *err);

enum sink_table {
	SINK_CLICKS,
	SINK_PROGRESS,
	SINK_LINKS,
	SINK_TABLE_COUNT
};
const char *sink_table_name(enum sink_table table);

#define SINK_ID_MAX 480
/* The query id of an insert under that token. */
void sink_query_id(const char *table, const char *token, char id[SINK_ID_MAX]);

/* `rows`: RowBinary.  After a failure they are stored or not, or those of some
 * days are. */
int sink_insert(struct sink *s, enum sink_table table, const char *token,
		const void *rows, size_t len, struct error *err);

/* The same into a table by any name: "INSERT INTO table (...)". */
int sink_insert_into(struct sink *s, const char *table, const char *columns,
		     const char *token, const void *rows, size_t len,
		     struct error *err);

#endif
