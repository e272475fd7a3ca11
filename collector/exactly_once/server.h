/*
 * server.h - what has to be known of the ClickHouse at hand before anything is
 * inserted: whether it is new enough, and which settings it has.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_SERVER_H
#define COLLECTOR_EXACTLY_ONCE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/*
 * The oldest that is taken, year and month.  Before, a token was numbered by
 * the part of the insert that it stood for: the rows of one day left out, those
 * of the next were taken for other ones, and stored twice or not at all.  (Seen
 * in 23.10, not in 24.8; the changes are those of ClickHouse 24.7.)
 */
#define SERVER_OLDEST_YEAR  24
#define SERVER_OLDEST_MONTH 8

struct server {
	char version[32];
	/* Not every version has this setting.  insert_deduplication_version is
	 * one of the server's configuration, not of an insert: what it means
	 * for tokens is measured, see measure.h. */
	bool has_deduplicate_insert;
};

/* Is it, as version() writes it, older than the oldest? */
bool server_is_too_old(const char *version);

/* ERROR_UNSAFE when it is too old. */
int server_learn(struct clickhouse *ch, struct server *ret, struct error *err);

/* When it was started, ms since 1970 by its own clock.  It tells the time it
 * has been running in whole seconds: the answers of one that runs on differ by
 * less than one. */
int server_started(struct clickhouse *ch, int64_t *ret, struct error *err);

#endif
