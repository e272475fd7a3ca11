#include "aggregator/reconcile/reconciled_hours.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregator/progress.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"

#define HOUR INT64_C(3600) /* seconds */

enum {
	NUMBERS = RECONCILED_ANSWERS + 18
};

/* The order is that of aggregator/sql/parts/reconciled_numbers.sql, and then
 * inexact, settling, waits. */
static void to_numbers(const struct reconciled_hour *h, uint64_t n[NUMBERS])
{
	const uint64_t others[] = {h->produced, h->acknowledged,
				   h->dropped,	h->spooled,
				   h->replayed, h->withheld,
				   h->stored,	h->imported,
				   h->late,	h->repeats,
				   h->removed,	h->unreported,
				   h->settled,	(uint64_t)h->unknown_ms,
				   h->unknown,	h->inexact,
				   h->settling, h->waits};

	for (size_t i = 0; i < RECONCILED_ANSWERS; i++)
		*n++ = h->answered[i];
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		*n++ = others[i];
}

static void from_fields(struct reconciled_hour *h, char **f)
{
	for (size_t i = 0; i < RECONCILED_ANSWERS; i++)
		h->answered[i] = tsv_u64(*f++);
	h->produced = tsv_u64(f[0]);
	h->acknowledged = tsv_u64(f[1]);
	h->dropped = tsv_u64(f[2]);
	h->spooled = tsv_u64(f[3]);
	h->replayed = tsv_u64(f[4]);
	h->withheld = tsv_u64(f[5]);
	h->stored = tsv_u64(f[6]);
	h->imported = tsv_u64(f[7]);
	h->late = tsv_u64(f[8]);
	h->repeats = tsv_u64(f[9]);
	h->removed = tsv_u64(f[10]);
	h->unreported = tsv_u64(f[11]);
	h->settled = tsv_u64(f[12]);
	h->unknown_ms = tsv_i64(f[13]);
	h->unknown = (size_t)tsv_u64(f[14]);
	h->inexact = tsv_u64(f[15]) > 0;
	h->settling = tsv_u64(f[16]) > 0;
	h->waits = tsv_u64(f[17]) > 0;
}

/* Parameters for the hours of a statement. */
struct hours_range {
	char from[24], to[24];
	struct clickhouse_param params[4];
};

static void range_fill(struct hours_range *range,
		       const struct reconciliation *r)
{
	snprintf(range->from, sizeof(range->from), "%" PRId64,
		 r->hours[0].start);
	snprintf(range->to, sizeof(range->to), "%" PRId64,
		 r->hours[r->count - 1].start + HOUR);
	range->params[0] = (struct clickhouse_param){"param_from", range->from};
	range->params[1] = (struct clickhouse_param){"param_to", range->to};
	/* A profile in which joins return NULL would store no rows. */
	range->params[2] = (struct clickhouse_param){"join_use_nulls", "0"};
	range->params[3] = (struct clickhouse_param){NULL, NULL};
}

/* --- storing --------------------------------------------------------------
 */

/* Returns the number of rows. */
static size_t put_rows(struct buf *sql, const struct reconciliation *r)
{
	uint64_t numbers[NUMBERS];
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct reconciled_hour *h = &r->hours[i];

		if (h->gone)
			continue;
		to_numbers(h, numbers);
		buf_printf(sql, "%s(%" PRId64, count++ ? ", " : "", h->start);
		for (size_t k = 0; k < NUMBERS; k++)
			buf_printf(sql, ", %" PRIu64, numbers[k]);
		buf_printf(sql, ", %" PRIu64 ")", h->sealed_by);
	}
	return count;
}

/* Rows replace each other by reconciled_at, so it has to grow. */
static void put_store(struct buf *sql, struct buf *rows)
{
	static const char text[] =
#include "aggregator/sql/reconciled_store.sql.inc"
		;
	struct buf columns = {0};

	for (size_t i = 0; i < NUMBERS; i++)
		buf_printf(&columns, ", n%zu UInt64", i);
	const struct statement_blank blanks[] = {
		{"columns", statement_piece(sql, &columns)},
		{"rows", statement_piece(sql, rows)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&columns);
}

int reconciled_hours_store(struct clickhouse *ch,
			   const struct reconciliation *r, struct error *err)
{
	struct hours_range range;
	struct buf rows = {0}, sql = {0};
	int status = 0;
	size_t count = put_rows(&rows, r);

	if (count) {
		range_fill(&range, r);
		put_store(&sql, &rows);
		status = buf_cstr(&sql)
				 ? clickhouse_query(ch, sql.data, range.params,
						    NULL, err)
				 : error_set_nomem(err);
	}
	buf_free(&rows);
	buf_free(&sql);
	return status < 0 ? error_wrap(err, "reconciled_hours") : 0;
}

/* --- recalling ------------------------------------------------------------
 */

struct recall {
	struct reconciliation *r;
	bool any_gone;
};

static struct reconciled_hour *hour_of(struct recall *recall, int64_t start)
{
	struct reconciliation *r = recall->r;
	int64_t at = r->count ? (start - r->hours[0].start) / HOUR : -1;

	return at >= 0 && (size_t)at < r->count ? &r->hours[at] : NULL;
}

static int take_gone(void *arg, char **f, struct error *err)
{
	struct recall *recall = arg;

	(void)err;
	for (int64_t at = tsv_i64(f[0]), i = 0; i < 24; i++) {
		struct reconciled_hour *h = hour_of(recall, at + i * HOUR);

		if (!h)
			continue;
		*h = (struct reconciled_hour){.start = h->start, .gone = true};
		recall->any_gone = true;
	}
	return 0;
}

/* A row is: hour, when it was kept, the numbers. */
static int take_kept(void *arg, char **f, struct error *err)
{
	struct reconciled_hour *h = hour_of(arg, tsv_i64(f[0]));

	(void)err;
	if (!h || !h->gone)
		return 0;
	h->kept_at = tsv_i64(f[1]);
	from_fields(h, f + 2);
	return 0;
}

static int query_recalled_hours(struct clickhouse *ch, struct recall *recall,
				const char *sql, size_t columns,
				clickhouse_row_fn *fn, struct error *err)
{
	struct hours_range range;

	if (!recall->r->count)
		return 0;
	range_fill(&range, recall->r);
	return clickhouse_rows(ch, sql, range.params,
			       clickhouse_number_columns(columns), fn, recall,
			       err);
}

static int ask_kept(struct clickhouse *ch, struct recall *recall,
		    struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/reconciled_kept.sql.inc"
		;

	if (query_recalled_hours(ch, recall, sql, 2 + NUMBERS, take_kept, err) <
	    0)
		return error_wrap(err, "reconciled_hours");
	return 0;
}

int reconciled_hours_recall(struct clickhouse *ch, struct reconciliation *r,
			    struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/reconciled_gone.sql.inc"
		;
	struct recall recall = {.r = r};

	if (query_recalled_hours(ch, &recall, sql, 1, take_gone, err) < 0)
		return -1;
	return recall.any_gone ? ask_kept(ch, &recall, err) : 0;
}

/* *ret: start of the hour; -1: there is none. */
static int find_last(struct clickhouse *ch, int64_t *ret, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/reconciled_last.sql.inc"
		;
	char until[24];
	const struct clickhouse_param params[] = {{"param_until", until},
						  {NULL, NULL}};
	struct progress last;
	uint64_t n[2] = {0};

	if (progress_read_last(ch, &last, err) < 0)
		return -1;
	snprintf(until, sizeof(until), "%" PRId64, last.complete_until / 1000);
	if (clickhouse_numbers(ch, sql, params, n, 2, err) < 0)
		return -1;
	*ret = n[0] ? (int64_t)n[1] : -1;
	return 0;
}

int reconciled_hours_last(struct clickhouse *ch, size_t count,
			  struct reconciliation *ret, struct error *err)
{
	struct recall recall = {.r = ret};
	int64_t last;

	*ret = (struct reconciliation){0};
	if (find_last(ch, &last, err) < 0)
		return error_wrap(err, "reconciled_hours");
	if (last < 0)
		return 0;
	ret->hours = calloc(count, sizeof(*ret->hours));
	if (!ret->hours)
		return error_set_nomem(err);
	ret->count = count;
	for (size_t i = 0; i < count; i++)
		ret->hours[i] = (struct reconciled_hour){
			.start = last - (int64_t)(count - 1 - i) * HOUR,
			.gone = true};
	return ask_kept(ch, &recall, err);
}

/* --- due days --------------------------------------------------------------
 *
 * Days that were reconciled are those of the newest rows of their hours
 * (aggregator/sql/parts/reconciled_days.sql): d (start, seconds since 1970),
 * n_kept (hours) and n_first (the least attempt that had sealed the day when
 * one of them was reconciled).
 */

int reconciled_hours_has_day(struct clickhouse *ch, int64_t day,
			     uint64_t sealed_by, bool *ret, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/reconciled_day.sql.inc"
		;
	char start[24], by[24];
	const struct clickhouse_param params[] = {
		{"param_day", start}, {"param_by", by}, {NULL, NULL}};
	uint64_t days = 0;

	snprintf(start, sizeof(start), "%" PRId64, day);
	snprintf(by, sizeof(by), "%" PRIu64, sealed_by);
	if (clickhouse_numbers(ch, sql, params, &days, 1, err) < 0)
		return error_wrap(err, "reconciled_hours");
	*ret = days > 0;
	return 0;
}

int reconciled_hours_due(struct clickhouse *ch, int64_t *ret_day,
			 struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/reconciled_due.sql.inc"
		;
	const struct clickhouse_param params[] = {{"join_use_nulls", "0"},
						  {NULL, NULL}};
	uint64_t n[2] = {0};

	if (clickhouse_numbers(ch, sql, params, n, 2, err) < 0)
		return error_wrap(err, "reconciled_hours");
	*ret_day = n[0] ? (int64_t)n[1] : -1;
	return 0;
}
