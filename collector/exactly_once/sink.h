/*
 * sink.h - inserts batches into ClickHouse.  Belongs to one thread.
 *
 * Every insert sets the settings that it depends on, regardless of the server's
 * defaults and the user's profile: its token, synchronous, one block of one
 * thread.  A server that is too old gets no inserts.
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

/* Returns the connection, for queries. */
struct clickhouse *sink_server(struct sink *s);

/* Queries whether the server was restarted since the last call; false for the
 * first call. */
int sink_ask_restarted(struct sink *s, bool *ret, struct error *err);

/* Checks that the server is up and new enough, once and again after
 * failures. */
int sink_check(struct sink *s, struct error *err);

/* Checks anew, and also whether the tables exist. */
int sink_probe(struct sink *s, struct error *err);

enum sink_table {
	SINK_CLICKS,
	SINK_PROGRESS,
	SINK_LINKS,
	SINK_CREATIONS, /* rows of created_links */
	SINK_TABLE_COUNT
};
const char *sink_table_name(enum sink_table table);

#define SINK_ID_MAX 480
/* Writes the query id of an insert under that token. */
void sink_query_id(const char *table, const char *token, char id[SINK_ID_MAX]);

/* `rows`: RowBinary.  After a failure all rows may be stored, or none, or those
 * of some days. */
int sink_insert(struct sink *s, enum sink_table table, const char *token,
		const void *rows, size_t len, struct error *err);

/* Inserts into any table: "INSERT INTO table (...)". */
int sink_insert_into(struct sink *s, const char *table, const char *columns,
		     const char *token, const void *rows, size_t len,
		     struct error *err);

#endif
