/*
 * sink.h - puts blocks into ClickHouse.  Belongs to one thread.
 *
 * Every insert names what makes it happen once: its token, synchronous inserts,
 * and block sizes that keep it whole, so that a resend is recognised by the
 * server whatever its defaults are.
 */
#ifndef COLLECTOR_SINK_H
#define COLLECTOR_SINK_H

#include <stddef.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct sink;

struct sink *sink_new(const struct clickhouse_config *config,
		      struct error *err);
void sink_free(struct sink *s); /* NULL accepted */

/* The connection, for questions. */
struct clickhouse *sink_server(struct sink *s);

/* Is the server there, and are the tables? */
int sink_probe(struct sink *s, struct error *err);

enum sink_table {
	SINK_CLICKS,
	SINK_PROGRESS,
	SINK_LINKS,
	SINK_TABLE_COUNT
};
const char *sink_table_name(enum sink_table table);

/* `rows`: RowBinary.  Fails for the whole block or succeeds for it; the same
 * token again is stored once. */
int sink_insert(struct sink *s, enum sink_table table, const char *token,
		const void *rows, size_t len, struct error *err);

#endif
