#include "aggregator/settle/drop_months.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/settle/derived_tables.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"
#include "common/clock.h"

static int query_months_to_drop(const struct settling *s,
				const struct clickhouse_param *params,
				uint64_t ret[3], struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/months_to_drop.sql.inc"
		;

	return clickhouse_numbers(s->ch, sql, params, ret, 3, err);
}

static int publish_kept_from(const struct settling *s,
			     const struct progress *last, const char *keep,
			     struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/publish_kept_from.sql.inc"
		;
	static const char *const names[] = {"param_attempt", "param_read_until",
					    "param_complete_until"};
	struct picked picked = {0};
	int status = settling_pick_day(s, last, &picked, err);
	const uint64_t numbers[] = {picked.attempt, (uint64_t)last->read_until,
				    (uint64_t)last->complete_until};
	struct settling_params params = {0};
	struct clickhouse_param *end = params.items;
	struct buf text = {0};

	if (status < 0)
		return -1;
	status = settling_params_fill(&params, s, names, numbers, 3, err);
	while (end->name)
		end++;
	*end++ = (struct clickhouse_param){"param_keep", keep};
	*end = (struct clickhouse_param){NULL, NULL};
	buf_puts(&text, sql);
	settling_take_turn(s);
	if (status == 0)
		status = s->check_lease(s->arg, err);
	if (status == 0)
		status = settling_run(s->ch, &text, params.items, err);
	settling_end_turn(s);
	buf_free(&text);
	settling_params_release(&params);
	return status;
}

int drop_months(const struct settling *s, const struct progress *last,
		int64_t *ret_from, struct error *err)
{
	int64_t keep_ms = settling_old_by(s, last) -
			  s->settings->settled_days * CLOCK_DAY;
	char keep[24];
	const struct clickhouse_param params[] = {{"param_keep", keep},
						  {NULL, NULL}};
	uint64_t n[3] = {0};

	*ret_from = 0;
	if (!s->settings->settled_days || keep_ms <= 0)
		return 0;
	snprintf(keep, sizeof(keep), "%" PRId64, keep_ms);
	if (query_months_to_drop(s, params, n, err) < 0)
		return error_wrap(err, "months to drop");
	if (n[1] || !n[2])
		return 0;
	if (publish_kept_from(s, last, keep, err) < 0)
		return error_wrap(err, "drop months");
	*ret_from = (int64_t)n[0];
	return 0;
}

/* --- deleting ---------------------------------------------------------------
 */

struct month_deletion {
	const struct settling *s;
	const char *table;
};

/*
 * Drops a partition.  ClickHouse builds its name from days, months and numbers.
 */
static int drop_partition(void *arg, char **f, struct error *err)
{
	const struct month_deletion *d = arg;
	struct buf sql = {0};
	int status;

	if (!*f[0] || strspn(f[0], "0123456789-") != strlen(f[0]))
		return 0;
	buf_printf(&sql, "ALTER TABLE %s DROP PARTITION ID '%s'", d->table,
		   f[0]);
	status = settling_run(d->s->ch, &sql, NULL, err);
	buf_free(&sql);
	return status;
}

/* `month`: the first six digits of a partition such as "20261001-1878" or
 * "20261001"; only whole months are dropped. */
static int drop_before(const struct settling *s, const char *table,
		       const char *month, struct error *err)
{
	static const char text[] =
#include "aggregator/sql/partitions_before.sql.inc"
		;
	const struct statement_blank blanks[] = {
		{"table", table}, {"month", month}, {NULL, NULL}};
	struct month_deletion d = {s, table};
	struct buf sql = {0};
	int status;

	statement_put(&sql, text, blanks);
	status = buf_cstr(&sql) ? settling_for_each(s->ch, sql.data, NULL, "s",
						    drop_partition, &d, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status < 0 ? error_wrap(err, "%s", table) : 0;
}

/* An error of one table does not stop the others: see settling_note. */
static int drop_partitions(const struct settling *s, const char *month,
			   struct error *err)
{
	static const char *const others[] = {"clicks", "reconciled_hours"};
	const struct derived_table *t;
	struct derived_walk walk = {0};
	struct error first = {0};
	int status = 0;

	for (size_t i = 0; status == 0 && i < 2; i++)
		status = settling_note(s->ch,
				       drop_before(s, others[i], month, err),
				       &first, err);
	while (status == 0 && (t = derived_walk_next(&walk)))
		status = settling_note(s->ch,
				       drop_before(s, t->name, month, err),
				       &first, err);
	return status < 0 ? -1 : settling_noted(&first, err);
}

/* The tables come before `settled`, so that a half-done deletion is found
 * again. */
static int delete_before(const struct settling *s, uint64_t kept_from,
			 const char *month, struct error *err)
{
	char of_sources[96], of_settled[128];

	snprintf(of_sources, sizeof(of_sources),
		 "toUInt32(toDateTime(day, 'UTC')) < %" PRIu64, kept_from);
	snprintf(of_settled, sizeof(of_settled),
		 "kind != 'pass' AND attempt != mended AND toUInt32(unit) < "
		 "%" PRIu64,
		 kept_from);
	if (drop_partitions(s, month, err) < 0 ||
	    settling_delete(s->ch, "dropped_sources", of_sources, err) < 0)
		return -1;
	return settling_delete(s->ch, "settled", of_settled, err);
}

int drop_months_delete(const struct settling *s, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/months_kept_from.sql.inc"
		;
	char month[24];
	struct settling_old old;
	const struct clickhouse_param params[] = {{"param_before", old.before},
						  {"param_kept", old.kept},
						  {NULL, NULL}};
	uint64_t n[2] = {0};

	settling_set_old(s, &old);
	if (clickhouse_numbers(s->ch, sql, params, n, 2, err) < 0)
		return error_wrap(err, "kept_from");
	if (!n[0])
		return 0;
	snprintf(month, sizeof(month), "%" PRIu64, n[1]);
	if (delete_before(s, n[0], month, err) < 0)
		return error_wrap(err, "delete months");
	return 0;
}

/* --- thinning ---------------------------------------------------------------
 */

/* The table's parts are months of append_time.  Only rows whose days are all
 * dropped, or before what is kept. */
static const char old_progress[] =
#include "aggregator/sql/conditions/ingest_progress.sql.inc"
	;

/* Counters are deleted a month at a time, too.  Reconciliation, which needs
 * rows, reads one day before its range as well. */
static const char old_counters[] =
#include "aggregator/sql/conditions/redirector_counters.sql.inc"
	;

/*
 * An import of a log reads three things: the log's heads, which identify the
 * log; the highest number of a run; and batches behind the last report of the
 * import, of which the greatest stays.  So a batch is deleted once it is before
 * that report and its own report is thinned, or its import was taken back; a
 * run is deleted once there is a later one.
 */
static const char old_journal[] =
#include "aggregator/sql/conditions/import_journal.sql.inc"
	;

int drop_months_thin(const struct settling *s, struct error *err)
{
	if (!s->settings->raw_days)
		return 0;
	if (settling_delete(s->ch, "ingest_progress", old_progress, err) < 0)
		return error_wrap(err, "thin ingest_progress");
	if (settling_delete(s->ch, "redirector_counters", old_counters, err) <
	    0)
		return error_wrap(err, "thin redirector_counters");
	if (settling_delete(s->ch, "import_journal", old_journal, err) < 0)
		return error_wrap(err, "thin import_journal");
	return 0;
}
