/*
 * migrations.h - schemas/clickhouse/, compiled in.
 */
#ifndef AGGREGATOR_MIGRATE_MIGRATIONS_H
#define AGGREGATOR_MIGRATE_MIGRATIONS_H

#include <stddef.h>

struct migration {
	const char *name; /* of the file, without its directory */
	const char *sql;
};

/* In the order they are applied in: that of their names.  The first one makes
 * the table that remembers the others. */
extern const struct migration migrations[];
extern const size_t migration_count;

#endif
