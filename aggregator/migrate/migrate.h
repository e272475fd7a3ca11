/*
 * migrate.h - brings a database to the tables that this program knows.
 *
 * Each migration is recorded with the checksum of its text.  Statements are
 * written so that they can run again (IF NOT EXISTS): a migration that failed
 * half-way is simply run again, as ClickHouse has no transaction around DDL.
 * Several may run at once: a statement that comes when later migrations have
 * been applied changes nothing or is refused.
 */
#ifndef AGGREGATOR_MIGRATE_MIGRATE_H
#define AGGREGATOR_MIGRATE_MIGRATE_H

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* Whether all is applied: ERROR_NOTFOUND says what is missing and what to
 * do. */
int migrate_check(struct clickhouse *ch, struct error *err);

/* For `migrate --check`: prints the names of those that are not applied, and
 * fails as migrate_check does.  `config` is a struct aggregator_config. */
int migrate_check_command(const char *command, const void *config,
			  struct error *err);

#endif
