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

/* In the order they are applied in: first the one that makes the table which
 * remembers the others, then by name.  The build makes the list. */
extern const struct migration migrations[];
extern const size_t migration_count;

#endif
