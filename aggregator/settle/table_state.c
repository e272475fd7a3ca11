#include "aggregator/settle/table_state.h"

#include "common/clickhouse/rows.h"

void table_state_read(struct clickhouse *ch, struct table_state *ret)
{
	static const char sql[] =
		"SELECT count(), sum(p.rows), "
		"sum(cityHash64(p.table, p.name, p.hash_of_all_files)), "
		"uniqExactIf(p.table, p.table != 'dropped_sources') "
		"FROM system.parts AS p WHERE p.active AND "
		"p.database = currentDatabase() AND p.table IN "
		"('ingest_progress', 'settled', 'dropped_sources') "
		"FORMAT TabSeparated";
	uint64_t n[4] = {0};
	struct error ignored = {0};

	*ret = (struct table_state){0};
	if (clickhouse_numbers(ch, sql, NULL, n, 4, &ignored) < 0)
		return;
	*ret = (struct table_state){n[3] == 2, n[0], n[1], n[2]};
}

bool table_state_is_same(const struct table_state *a,
			 const struct table_state *b)
{
	return a->known && b->known && a->parts == b->parts &&
	       a->rows == b->rows && a->hash == b->hash;
}
