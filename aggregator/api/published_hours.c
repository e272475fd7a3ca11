#include "aggregator/api/published_hours.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"

/* Reads the next number of an array as ClickHouse writes it; false at its end.
 */
static bool next_number(char **array, uint64_t *ret)
{
	char *end;

	if (**array != '[' && **array != ',')
		return false;
	*ret = strtoull(*array + 1, &end, 10);
	if (end == *array + 1)
		return false;
	*array = end;
	return true;
}

struct hours_reader {
	struct progress *last;
	struct published_hours *hours;
};

static int add_hour(struct published_hours *hours, uint64_t start,
		    uint64_t attempt, struct error *err)
{
	struct published_hour *more = hours->items;

	/* The array doubles at each power of two. */
	if (!(hours->count & (hours->count - 1)))
		more = realloc(more, (hours->count ? 2 * hours->count : 1) *
					     sizeof(*more));
	if (!more)
		return error_set_nomem(err);
	hours->items = more;
	more[hours->count++] = (struct published_hour){(int64_t)start, attempt};
	return 0;
}

/* A row is: the columns of progress_of_fields, starts, attempts. */
static int take_hours(void *arg, char **f, struct error *err)
{
	const struct hours_reader *reader = arg;
	char *starts = f[4], *attempts = f[5];
	uint64_t start, attempt;

	*reader->last = progress_of_fields(f);
	while (next_number(&starts, &start)) {
		if (!next_number(&attempts, &attempt))
			return error_set(err, ERROR_PROTOCOL,
					 "ClickHouse: an hour without its "
					 "attempt");
		if (add_hour(reader->hours, start, attempt, err) < 0)
			return -1;
	}
	return 0;
}

int published_hours_read(struct clickhouse *ch, int64_t from, int64_t to,
			 struct progress *ret_last, struct published_hours *ret,
			 struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/published_hours.sql.inc"
		;
	char from_text[24], to_text[24];
	const struct clickhouse_param params[] = {
		{"param_from", from_text}, {"param_to", to_text}, {NULL, NULL}};
	struct hours_reader reader = {ret_last, ret};

	*ret = (struct published_hours){0};
	snprintf(from_text, sizeof(from_text), "%" PRId64, from);
	snprintf(to_text, sizeof(to_text), "%" PRId64, to);
	if (clickhouse_row(ch, sql, params, "nnnnss", take_hours, &reader,
			   err) == 0)
		return 0;
	published_hours_release(ret);
	return error_wrap(err, "settled");
}

void published_hours_release(struct published_hours *hours)
{
	free(hours->items);
	*hours = (struct published_hours){0};
}

void published_hours_leave_out(struct published_hours *hours,
			       const struct copied_days *days)
{
	size_t kept = 0, day = 0;

	for (size_t i = 0; i < hours->count; i++) {
		const struct published_hour *hour = &hours->items[i];

		while (day < days->count &&
		       days->items[day].start + CIVIL_DAY <= hour->start)
			day++;
		if (day == days->count || hour->start < days->items[day].start)
			hours->items[kept++] = *hour;
	}
	hours->count = kept;
}

int published_hours_put(const struct published_hours *hours, struct buf *starts,
			struct buf *attempts, struct error *err)
{
	buf_putc(starts, '[');
	buf_putc(attempts, '[');
	for (size_t i = 0; i < hours->count; i++) {
		const struct published_hour *hour = &hours->items[i];

		buf_printf(starts, "%s%" PRId64, i ? "," : "", hour->start);
		buf_printf(attempts, "%s%" PRIu64, i ? "," : "", hour->attempt);
	}
	buf_putc(starts, ']');
	buf_putc(attempts, ']');
	return buf_cstr(starts) && buf_cstr(attempts) ? 0
						      : error_set_nomem(err);
}
