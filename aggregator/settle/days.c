#include "aggregator/settle/days.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "aggregator/settle/settle_sql.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/tsv.h"

#define STAGING_PREFIX "settle_staging_"

static const struct target {
	const char *table;
	void (*put_sql)(struct buf *sql, const char *staging);
	/* GROUP BY follows the table's order for one of the two only; for the
	 * other, asking for it made it 30 times slower. */
	const char *in_order;
} targets[] = {
	{"clicks_hourly", settle_sql_day_clicks, "0"},
	{"visit_statistics", settle_sql_day_visits, "1"},
};
#define TARGET_COUNT (sizeof(targets) / sizeof(targets[0]))

static int run(struct clickhouse *ch, struct buf *sql,
	       const struct clickhouse_param *params, struct error *err)
{
	const char *text = buf_cstr(sql);
	int status = text ? clickhouse_query(ch, text, params, NULL, err)
			  : error_set_nomem(err);

	buf_reset(sql);
	return status;
}

static void partition_of(int64_t start, char out[16])
{
	struct civil c = civil_from_days(floor_div(start, CIVIL_DAY));

	snprintf(out, 16, "%04d%02d%02d", (int)(c.year % 10000), c.month,
		 c.day);
}

static int fill(struct clickhouse *ch, const struct target *t,
		const char *staging, const struct stale *day, struct buf *sql,
		struct error *err)
{
	char start[24], end[24];
	const struct clickhouse_param params[] = {
		{"param_start", start},
		{"param_end", end},
		{"optimize_aggregation_in_order", t->in_order},
		{NULL, NULL}};

	snprintf(start, sizeof(start), "%" PRId64, day->start);
	snprintf(end, sizeof(end), "%" PRId64, day->start + CIVIL_DAY);
	buf_printf(sql, "CREATE TABLE %s AS %s", staging, t->table);
	if (run(ch, sql, NULL, err) < 0)
		return -1;
	t->put_sql(sql, staging);
	return run(ch, sql, params, err);
}

static int settle_one(struct clickhouse *ch, const struct target *t,
		      const struct stale *day, days_may_swap_fn *may_swap,
		      void *arg, struct error *err)
{
	struct error ignored = {0};
	struct buf sql = {0};
	char staging[64], partition[16];
	uint64_t chance = 0;
	int status;

	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		return error_set_errno(err, "getrandom");
	snprintf(staging, sizeof(staging), STAGING_PREFIX "%016" PRIx64,
		 chance);
	partition_of(day->start, partition);
	status = fill(ch, t, staging, day, &sql, err);
	if (status == 0 && !may_swap(arg, err))
		status = -1;
	if (status == 0) {
		buf_printf(&sql,
			   "ALTER TABLE %s REPLACE PARTITION ID '%s' FROM %s",
			   t->table, partition, staging);
		status = run(ch, &sql, NULL, err);
	}
	buf_printf(&sql, "DROP TABLE IF EXISTS %s", staging);
	run(ch, &sql, NULL, &ignored);
	buf_free(&sql);
	return status < 0 ? error_wrap(err, "settle day %s of %s", partition,
				       t->table)
			  : 0;
}

int days_settle(struct clickhouse *ch, const struct stale *day,
		days_may_swap_fn *may_swap, void *arg, struct error *err)
{
	for (size_t i = 0; i < TARGET_COUNT; i++) {
		if (settle_one(ch, &targets[i], day, may_swap, arg, err) < 0)
			return -1;
	}
	return 0;
}

static bool is_staging_name(const char *name)
{
	size_t prefix = strlen(STAGING_PREFIX);

	return !strncmp(name, STAGING_PREFIX, prefix) &&
	       strspn(name + prefix, "0123456789abcdef") == 16 &&
	       strlen(name) == prefix + 16;
}

int days_drop_left_over(struct clickhouse *ch, struct error *err)
{
	static const char list[] =
		"SELECT name FROM system.tables WHERE database = "
		"currentDatabase() AND startsWith(name, '" STAGING_PREFIX "') "
		"AND metadata_modification_time < now() - INTERVAL 1 DAY "
		"FORMAT TabSeparated";
	struct buf answer = {0}, sql = {0};
	struct tsv rows;
	char *name;
	int status = clickhouse_query(ch, list, NULL, &answer, err);

	rows = tsv_rows(&answer);
	while (status == 0 && tsv_next(&rows, &name, 1)) {
		if (!is_staging_name(name))
			continue;
		buf_printf(&sql, "DROP TABLE IF EXISTS %s", name);
		status = run(ch, &sql, NULL, err);
	}
	buf_free(&sql);
	buf_free(&answer);
	return status;
}
