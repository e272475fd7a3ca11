/*
 * migrate.h - brings a database to the tables that this program knows.
 *
 * Each migration is recorded with the checksum of its text.  Statements are
 * written so that they can run again (IF NOT EXISTS): a migration that failed
 * half-way is simply run again, as ClickHouse has no transaction around DDL.
 */
#ifndef AGGREGATOR_MIGRATE_MIGRATE_H
#define AGGREGATOR_MIGRATE_MIGRATE_H

#include <stdbool.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* Called for each statement before it is run, and with `statement` NULL once
 * the migration is recorded. */
typedef void migrate_report_fn(void *arg, const char *name,
			       const char *statement);

/*
 * Makes the database if it is not there and applies what is missing, in order.
 * With `dry_run` only reports what would be run.  A migration whose text is no
 * longer the one that was applied is ERROR_UNSAFE and named; nothing is then
 * applied.
 */
int migrate_run(const struct clickhouse_config *config, bool dry_run,
		migrate_report_fn *report, void *arg, struct error *err);

/* Whether all is applied: ERROR_NOTFOUND says what is missing and what to
 * do. */
int migrate_check(struct clickhouse *ch, struct error *err);

#endif
