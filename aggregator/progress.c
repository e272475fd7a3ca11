#include "aggregator/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "schemas/ingest_progress.h"

void stale_list_release(struct stale_list *list)
{
	free(list->items);
	*list = (struct stale_list){0};
}

/* A row is: start, blocks, rows; rows and attempt of the last publication;
 * number of the drop; whether it was provisional. */
static int add_stale(void *arg, char **f, struct error *err)
{
	struct stale_list *list = arg;
	struct stale *more =
		realloc(list->items, (list->count + 1) * sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	list->items = more;
	more[list->count++] = (struct stale){
		.start = tsv_i64(f[0]),
		.blocks = tsv_u64(f[1]),
		.rows = tsv_u64(f[2]),
		.was_rows = tsv_u64(f[3]),
		.was = tsv_u64(f[4]) > 0,
		.was_attempt = tsv_u64(f[4]),
		.dropped = tsv_u64(f[5]),
		.provisional = tsv_u64(f[6]) > 0,
	};
	return 0;
}

/* A row has one more column: when it was last reported. */
static int add_stale_hour(void *arg, char **f, struct error *err)
{
	struct stale_list *list = arg;

	if (add_stale(list, f, err) < 0)
		return -1;
	list->items[list->count - 1].reported_at = tsv_i64(f[7]);
	return 0;
}

/* A row has two more columns: when its hours were settled last, and itself. */
static int add_stale_day(void *arg, char **f, struct error *err)
{
	struct stale_list *list = arg;

	if (add_stale(list, f, err) < 0)
		return -1;
	list->items[list->count - 1].changed_at = tsv_i64(f[7]);
	list->items[list->count - 1].settled_at = tsv_i64(f[8]);
	return 0;
}

static int read_stale(struct clickhouse *ch, const char *sql,
		      const struct clickhouse_param *params,
		      const char *columns, clickhouse_row_fn *add,
		      struct stale_list *ret, struct error *err)
{
	*ret = (struct stale_list){0};
	if (clickhouse_rows(ch, sql, params, columns, add, ret, err) == 0)
		return 0;
	stale_list_release(ret);
	return -1;
}

struct progress progress_of_fields(char *const fields[4])
{
	return (struct progress){
		.read_until = tsv_i64(fields[0]),
		.complete_until = tsv_i64(fields[1]),
		.attempt = tsv_u64(fields[2]),
		.mended = tsv_u64(fields[3]),
	};
}

struct marked {
	struct progress progress;
	uint64_t marks;
};

/* A row is: the columns of progress_of_fields, marks. */
static int take_marks(void *arg, char **fields, struct error *err)
{
	struct marked *marked = arg;

	(void)err;
	marked->progress = progress_of_fields(fields);
	marked->marks = tsv_u64(fields[4]);
	return 0;
}

int progress_read_marks(struct clickhouse *ch, struct progress *ret,
			uint64_t *ret_marks, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/progress_marks.sql.inc"
		;
	struct marked marked = {.marks = 0};
	int64_t asked_at = clock_monotonic_ms();

	if (clickhouse_row(ch, sql, NULL, "nnnnn", take_marks, &marked, err) <
	    0)
		return error_wrap(err, "settled");
	*ret = marked.progress;
	ret->asked_at = asked_at;
	*ret_marks = marked.marks;
	return 0;
}

int progress_read_last(struct clickhouse *ch, struct progress *ret,
		       struct error *err)
{
	uint64_t marks;

	return progress_read_marks(ch, ret, &marks, err);
}

int progress_read_until(struct clickhouse *ch, int64_t *ret_ms,
			struct error *err)
{
	/* Reads the table in its order, from the end. */
	static const char sql[] =
#include "aggregator/sql/progress_until.sql.inc"
		;
	uint64_t n = 0;

	if (clickhouse_numbers(ch, sql, NULL, &n, 1, err) < 0)
		return error_wrap(err, "ingest_progress");
	*ret_ms = (int64_t)n;
	return 0;
}

/* --- hours ------------------------------------------------------------------
 */

/*
 * Parameters of the statements about hours
 * (aggregator/sql/parts/about_hours.sql): these compare the reports about the
 * hours in `touched`, the reports they are published from, and those they are
 * held back at.  A block that was reported twice has the same offsets of the
 * same partition.  `rescore` reports no offsets and no rows.  Blocks of an hour
 * are reported after it has begun, by Kafka's clock and by ClickHouse's, unless
 * that went back: `low` is the earliest time.  A block that lies on both sides
 * of a frontier, the last offset of its source in the base of a dropped day,
 * was read again: it makes the hour stale, and how many of its rows are new is
 * unknown.
 */
struct hours_params {
	struct clickhouse_param items[9];
	char early[24], low[24], closes[24];
};

static void hours_params_fill(struct hours_params *p,
			      const struct clickhouse_param *some, size_t count,
			      int64_t low_ms)
{
	for (size_t i = 0; i < count; i++)
		p->items[i] = some[i];
	snprintf(p->early, sizeof(p->early), "%" PRId64,
		 PROGRESS_EARLY * CLOCK_SECOND);
	p->items[count++] = (struct clickhouse_param){"param_early", p->early};
	snprintf(p->low, sizeof(p->low), "%" PRId64, low_ms);
	p->items[count++] = (struct clickhouse_param){"param_low", p->low};
	snprintf(p->closes, sizeof(p->closes), "%d", PROGRESS_CLOSES);
	p->items[count++] =
		(struct clickhouse_param){"param_closes", p->closes};
	/* A profile in which joins return NULL would make nothing stale. */
	p->items[count++] = (struct clickhouse_param){"join_use_nulls", "0"};
	p->items[count] = (struct clickhouse_param){NULL, NULL};
}

static int read_hours(struct clickhouse *ch, const char *sql,
		      const struct clickhouse_param *some, size_t count,
		      int64_t low_ms, struct stale_list *ret, struct error *err)
{
	struct hours_params params;

	hours_params_fill(&params, some, count, low_ms);
	return read_stale(ch, sql, params.items, "nnnnnnnn", add_stale_hour,
			  ret, err);
}

int progress_stale_hours(struct clickhouse *ch, int64_t since_ms,
			 int64_t low_ms, bool held, struct stale_list *ret,
			 struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/stale_hours.sql.inc"
		;
	char since[24];
	const struct clickhouse_param params[] = {
		{"param_since", since}, {"param_held", held ? "1" : "0"}};

	snprintf(since, sizeof(since), "%" PRId64, since_ms);
	if (read_hours(ch, sql, params, 2, low_ms, ret, err) < 0)
		return error_wrap(err, "stale hours");
	return 0;
}

/* The comparison reads all reports since the first of the hours, so it is made
 * only if there are any. */
static int has_reports(struct clickhouse *ch,
		       const struct clickhouse_param *params, bool *ret,
		       struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/hours_reported.sql.inc"
		;
	uint64_t hours = 0;

	if (clickhouse_numbers(ch, sql, params, &hours, 1, err) < 0)
		return -1;
	*ret = hours > 0;
	return 0;
}

int progress_waiting_hours(struct clickhouse *ch, int64_t since_ms,
			   int64_t from, int64_t to, struct stale_list *ret,
			   struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/waiting_hours.sql.inc"
		;
	char since[24], first[24], end[24];
	const struct clickhouse_param some[] = {{"param_since", since},
						{"param_from", first},
						{"param_to", end}};
	struct hours_params params;
	bool any = false;

	*ret = (struct stale_list){0};
	snprintf(since, sizeof(since), "%" PRId64, since_ms);
	snprintf(first, sizeof(first), "%" PRId64, from);
	snprintf(end, sizeof(end), "%" PRId64, to);
	/* All reports are compared if the time is 0, also those made while a
	 * clock was back; otherwise as many as in a pass of the settler. */
	hours_params_fill(&params, some, 3, since_ms ? INT64_MAX : 0);
	if (has_reports(ch, params.items, &any, err) < 0 ||
	    (any && read_stale(ch, sql, params.items, "nnnnnnnn",
			       add_stale_hour, ret, err) < 0))
		return error_wrap(err, "waiting hours");
	return 0;
}

int progress_count_stale(struct clickhouse *ch, int64_t from, int64_t to,
			 uint64_t *ret, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/stale_hours_count.sql.inc"
		;
	char first[24], end[24];
	const struct clickhouse_param some[] = {{"param_from", first},
						{"param_to", end}};
	struct hours_params params;

	snprintf(first, sizeof(first), "%" PRId64, from);
	snprintf(end, sizeof(end), "%" PRId64, to);
	hours_params_fill(&params, some, 2, 0);
	if (clickhouse_numbers(ch, sql, params.items, ret, 1, err) < 0)
		return error_wrap(err, "stale hours");
	return 0;
}

int progress_hours_of(struct clickhouse *ch, int64_t from, int64_t to,
		      struct stale_list *ret, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/hours_of_range.sql.inc"
		;
	char low[24], high[24];
	const struct clickhouse_param params[] = {{"param_from", low},
						  {"param_to", high}};

	snprintf(low, sizeof(low), "%" PRId64, from);
	snprintf(high, sizeof(high), "%" PRId64, to);
	if (read_hours(ch, sql, params, 2, 0, ret, err) < 0)
		return error_wrap(err, "hours");
	return 0;
}

/* --- days -------------------------------------------------------------------
 */

/* A dropped day counts only what was settled since the drop.  A time in the
 * future comes from a clock that was ahead. */
int progress_stale_days(struct clickhouse *ch, const struct days_due *due,
			bool held, struct stale_list *ret, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/stale_days.sql.inc"
		;
	char closed[24], since[24], corrected[24];
	const struct clickhouse_param params[] = {
		{"param_closed", closed},
		{"param_since", since},
		{"param_corrected", corrected},
		{"param_held", held ? "1" : "0"},
		{"join_use_nulls", "0"},
		{NULL, NULL}};

	snprintf(closed, sizeof(closed), "%" PRId64, due->closed_before);
	snprintf(since, sizeof(since), "%" PRId64, due->not_since);
	snprintf(corrected, sizeof(corrected), "%" PRId64,
		 due->corrected_since);
	if (read_stale(ch, sql, params, "nnnnnnnnn", add_stale_day, ret, err) <
	    0)
		return error_wrap(err, "stale days");
	return 0;
}

int progress_days_of(struct clickhouse *ch, int64_t from, int64_t to,
		     struct stale_list *ret, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/days_of_range.sql.inc"
		;
	char low[24], high[24];
	const struct clickhouse_param params[] = {{"param_from", low},
						  {"param_to", high},
						  {"join_use_nulls", "0"},
						  {NULL, NULL}};

	snprintf(low, sizeof(low), "%" PRId64, from);
	snprintf(high, sizeof(high), "%" PRId64, to);
	if (read_stale(ch, sql, params, "nnnnnnnnn", add_stale_day, ret, err) <
	    0)
		return error_wrap(err, "days");
	return 0;
}

/* Rows of `settled` that hold an hour or day back.  An hour or day that was
 * published later, or from the same blocks, is not held back any more. */
int progress_held_back(struct clickhouse *ch, struct held_back *ret,
		       struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/held_back.sql.inc"
		;
	uint64_t n[3] = {0};

	if (clickhouse_numbers(ch, sql, NULL, n, 3, err) < 0)
		return error_wrap(err, "held back");
	*ret = (struct held_back){n[0], n[1], (int64_t)n[2]};
	return 0;
}
