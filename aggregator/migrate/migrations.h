/*
 * migrations.h - schemas/clickhouse/, compiled in.
 */
#ifndef AGGREGATOR_MIGRATE_MIGRATIONS_H
#define AGGREGATOR_MIGRATE_MIGRATIONS_H

#include <stddef.h>

struct migration {
	const char *name; /* the name of the file, without its directory */
	const char *sql;
};

/* The order is that of application: first the migration that creates the table
 * of migrations, then by name.  The build generates the list. */
extern const struct migration migrations[];
extern const size_t migration_count;

#endif
