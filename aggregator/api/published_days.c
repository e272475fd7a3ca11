#include "aggregator/api/published_days.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/settle/promise.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

struct days_reader {
	const struct days_reading *reading;
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

/* A row is: start, attempt, whether it was settled after its hours and from the
 * blocks that these are published from, and whether it is held back at these.
 * Hours before the watermark are published from all rows but those that wait.
 */
static int take_day(void *arg, char **f, struct error *err)
{
	const struct days_reader *reader = arg;
	struct published_day day = {.start = tsv_i64(f[0]),
				    .attempt = tsv_u64(f[1])};
	int64_t end = end_ms(day.start);
	bool as_hours = day.attempt && tsv_u64(f[2]) > 0;

	day.complete = as_hours && reader->reading->last.complete_until >= end;
	day.waiting =
		!as_hours && !tsv_u64(f[3]) && reader->reading->now >= end;
	return add_day(reader->days, &day, err);
}

/* For a dropped day, hours and the day count as settled from what has come
 * since, as in progress.c.  A day that is settled from no row at all, because
 * all it had was an import that was taken back, counts as one that never had
 * any. */
static int read_days(struct clickhouse *ch, int64_t from, int64_t to,
		     struct days_reader *reader, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/published_days.sql.inc"
		;
	char from_text[24], to_text[24];
	const struct clickhouse_param params[] = {
		{"param_from", from_text}, {"param_to", to_text}, {NULL, NULL}};

	snprintf(from_text, sizeof(from_text), "%" PRId64, from);
	snprintf(to_text, sizeof(to_text), "%" PRId64, to);
	return clickhouse_rows(ch, sql, params, "nnnn", take_day, reader, err);
}

/* Inserts the day in its place if it is not listed. */
static int find_or_add(struct published_days *days, int64_t start,
		       struct published_day **ret, struct error *err)
{
	const struct published_day day = {.start = start};
	size_t at = days->count;

	while (at && days->items[at - 1].start >= start)
		at--;
	if (at == days->count || days->items[at].start != start) {
		if (add_day(days, &day, err) < 0)
			return -1;
		memmove(&days->items[at + 1], &days->items[at],
			(days->count - 1 - at) * sizeof(day));
		days->items[at] = day;
	}
	*ret = &days->items[at];
	return 0;
}

static int add_waiting(struct days_reader *reader,
		       const struct stale_list *hours, struct error *err)
{
	struct published_day *day;

	for (size_t i = 0; i < hours->count; i++) {
		int64_t start = hours->items[i].start / CIVIL_DAY * CIVIL_DAY;

		if (reader->reading->now < end_ms(start))
			continue;
		if (find_or_add(reader->days, start, &day, err) < 0)
			return -1;
		day->complete = false;
		day->waiting = true;
	}
	return 0;
}

/* The hours that wait are read first: those that are settled meanwhile then
 * differ from their day. */
int published_days_read(struct clickhouse *ch, int64_t from, int64_t to,
			const struct days_reading *reading,
			struct published_days *ret, struct error *err)
{
	struct days_reader reader = {reading, ret};
	struct stale_list hours;
	int64_t since = promise_read_from(&reading->last, reading->now,
					  reading->overlap_ms);
	int status;

	*ret = (struct published_days){0};
	if (progress_waiting_hours(ch, since, from, to, &hours, err) < 0)
		return -1;
	status = read_days(ch, from, to, &reader, err);
	if (status == 0)
		status = add_waiting(&reader, &hours, err);
	stale_list_release(&hours);
	if (status == 0)
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
				      int64_t from, const struct progress *last)
{
	int64_t until = last->complete_until / CLOCK_DAY * CLOCK_DAY;

	for (size_t i = 0; i < days->count; i++) {
		const struct published_day *day = &days->items[i];

		if (day->start >= from && !day->complete)
			return clock_earlier(day->start * CLOCK_SECOND, until);
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
