#include "aggregator/migrate/migrations.h"

const struct migration migrations[] = {
#include "schemas/clickhouse/migrations.inc"
};
const size_t migration_count = sizeof(migrations) / sizeof(migrations[0]);
