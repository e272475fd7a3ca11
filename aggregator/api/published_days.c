#include "aggregator/api/published_days.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

struct days_reader {
	const struct progress *last;
	struct published_days *days;
};

static int64_t end_ms(int64_t start)
{
	return (start + CIVIL_DAY) * CLOCK_SECOND;
}

static int add_day(struct published_days *days, const struct published_day *day,
		   struct error *err)
{
	struct published_day *more =
		reallocarray(days->items, days->count + 1, sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	days->items = more;
	more[days->count++] = *day;
	return 0;
}

/*
 * A row is: start, attempt, the watermark when it was settled (ms), and whether
 * it was settled from the blocks that its hours are published from.  Hours
 * before the watermark are published from all rows.  So is a day that was
 * settled after the watermark had passed its end, unless the watermark was
 * mended since.
 */
static int take_day(void *arg, char **f, struct error *err)
{
	const struct days_reader *reader = arg;
	const struct progress *last = reader->last;
	struct published_day day = {.start = tsv_i64(f[0]),
				    .attempt = tsv_u64(f[1])};
	int64_t end = end_ms(day.start);
	bool had_all = day.attempt > last->mended && tsv_i64(f[2]) >= end;
	bool as_hours = tsv_u64(f[3]) > 0;

	day.complete = day.attempt && last->complete_until >= end &&
		       (had_all || as_hours);
	return add_day(reader->days, &day, err);
}

/* For a dropped day, hours and the day count as settled from what has come
 * since, as in progress.c.  A day that is settled from no row at all, because
 * all it had was an import that was taken back, counts as one that never had
 * any. */
int published_days_read(struct clickhouse *ch, int64_t from, int64_t to,
			const struct progress *last, struct published_days *ret,
			struct error *err)
{
	static const char sql[] =
		"SELECT n_start, n_day, toUnixTimestamp64Milli(n_until), "
		"(arraySum(one -> if(one.1 >= n_dropped, one.2, 0), every), "
		"arraySum(one -> if(one.1 >= n_dropped, one.3, 0), every)) = "
		"if(n_day < n_dropped, (0, 0), n_from) FROM (SELECT "
		"toUInt32(intDiv(toUInt32(unit), 86400) * 86400) AS n_start, "
		"maxIf(n_attempt, kind = 'link_day') AS n_day, "
		"maxIf(n_mark, kind = 'link_day') AS n_until, "
		"maxIf((n_blocks, n_rows), kind = 'link_day') AS n_from, "
		"maxIf(n_attempt, kind = 'dropped_day') AS n_dropped, "
		"groupArrayIf((n_attempt, n_blocks, n_rows), kind = 'hour') "
		"AS every FROM (SELECT kind, unit, max(attempt) AS n_attempt, "
		"argMax(blocks, attempt) AS n_blocks, "
		"argMax(rows, attempt) AS n_rows, "
		"argMax(complete_until, attempt) AS n_mark FROM settled WHERE "
		"kind IN ('hour', 'link_day', 'dropped_day') AND "
		"unit >= toDateTime({from:UInt32}, 'UTC') AND "
		"unit < toDateTime({to:UInt32}, 'UTC') GROUP BY kind, unit) "
		"GROUP BY n_start) WHERE (n_day > 0 OR notEmpty(every)) AND "
		"(n_dropped > 0 OR n_from.2 > 0 OR "
		"arrayExists(one -> one.3 > 0, every)) "
		"ORDER BY n_start FORMAT TabSeparated";
	char from_text[24], to_text[24];
	const struct clickhouse_param params[] = {
		{"param_from", from_text}, {"param_to", to_text}, {NULL, NULL}};
	struct days_reader reader = {last, ret};

	*ret = (struct published_days){0};
	snprintf(from_text, sizeof(from_text), "%" PRId64, from);
	snprintf(to_text, sizeof(to_text), "%" PRId64, to);
	if (clickhouse_rows(ch, sql, params, "nnnn", take_day, &reader, err) ==
	    0)
		return 0;
	published_days_release(ret);
	return error_wrap(err, "settled");
}

void published_days_release(struct published_days *days)
{
	free(days->items);
	*days = (struct published_days){0};
}

int64_t published_days_complete_until(const struct published_days *days,
				      const struct progress *last)
{
	int64_t until = last->complete_until / CLOCK_DAY * CLOCK_DAY;

	for (size_t i = 0; i < days->count; i++) {
		int64_t start = days->items[i].start * CLOCK_SECOND;

		if (!days->items[i].complete)
			return start < until ? start : until;
	}
	return until;
}

int64_t published_days_settled_until(const struct published_days *days,
				     int64_t from, int64_t to,
				     const struct progress *last)
{
	int64_t until = from, end;
	size_t i = 0;

	for (size_t n = 0; n < days->count; n++) {
		if (!days->items[n].attempt)
			continue;
		until = days->items[n].start + CIVIL_DAY;
		i = n + 1;
	}
	end = last->complete_until / CLOCK_DAY * CIVIL_DAY;
	if (i < days->count && days->items[i].start < end)
		end = days->items[i].start;
	if (end > to)
		end = to;
	return end > until ? end : until;
}
