/*
 * migrate.h - creates and updates the tables that this program needs.
 *
 * Each migration is recorded with the checksum of its text.  Statements can run
 * again (IF NOT EXISTS): a migration that failed half-way is run again, because
 * ClickHouse has no transactions for DDL.  Several processes may migrate at
 * once: a statement that runs after later migrations changes nothing or is
 * refused.
 */
#ifndef AGGREGATOR_MIGRATE_MIGRATE_H
#define AGGREGATOR_MIGRATE_MIGRATE_H

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* Checks whether all migrations are applied.  ERROR_NOTFOUND: the text has what
 * is missing and what to do. */
int migrate_check(struct clickhouse *ch, struct error *err);

/* For `migrate --check`: prints the names of migrations that are not applied,
 * and fails like migrate_check.  `config` is a struct aggregator_config. */
int migrate_check_command(const char *command, const void *config,
			  struct error *err);

#endif
