#include "aggregator/settle/table_state.h"

#include "common/clickhouse/rows.h"
#include "common/clock.h"

static void table_state_read(struct clickhouse *ch, struct table_state *ret)
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

/* Returns false if either is not known. */
static bool is_same(const struct table_state *a, const struct table_state *b)
{
	return a->known && b->known && a->parts == b->parts &&
	       a->rows == b->rows && a->hash == b->hash;
}

bool table_watch_is_quiet(struct table_watch *w, struct clickhouse *ch)
{
	bool quiet;

	table_state_read(ch, &w->now);
	quiet = clock_monotonic_ms() < w->look_at &&
		is_same(&w->now, &w->nothing_at);
	w->nothing_at.known = false;
	return quiet;
}

void table_watch_found(struct table_watch *w, bool something, bool looked,
		       int64_t settle_every)
{
	if (looked)
		w->look_at = clock_monotonic_ms() +
			     TABLE_WATCH_LOOK_EVERY * settle_every;
	if (!something)
		w->nothing_at = w->now;
}
