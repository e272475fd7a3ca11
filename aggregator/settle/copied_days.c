#include "aggregator/settle/copied_days.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aggregator/settle/day_attempts.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"

static int add_day(struct copied_days *days, const struct copied_day *day,
		   bool is_read, struct error *err)
{
	int64_t end = day->start + CIVIL_DAY;
	struct copied_day *more;

	if (day->dropped)
		days->rows_from = end;
	if (!is_read) {
		if (day->dropped)
			days->days_from = end;
		return 0;
	}
	more = reallocarray(days->items, days->count + 1, sizeof(*more));
	if (!more)
		return error_set_nomem(err);
	days->items = more;
	more[days->count++] = *day;
	return 0;
}

/* A row is: start of the day, its events, number of its drop; then for each
 * kind whether it is read, and its attempt. */
static int take_day(void *arg, char **f, struct error *err)
{
	struct copied_days *all = arg;
	struct copied_day day = {
		.start = tsv_i64(f[0]),
		.events = tsv_u64(f[1]),
		.dropped = tsv_u64(f[2]) > 0,
	};

	for (size_t i = 0; i < COPIED_KINDS; i++) {
		day.attempt = tsv_u64(f[4 + 2 * i]);
		if (add_day(&all[i], &day, tsv_u64(f[3 + 2 * i]) > 0, err) < 0)
			return -1;
	}
	return 0;
}

/* Writes for each kind whether it is read, and its attempt. */
static void put_read(struct buf *read, struct buf *or_read)
{
	for (size_t i = 0; i < COPIED_KINDS; i++) {
		const struct derived *copy = derived_copy((enum copied)i);

		buf_puts(read, ", ");
		day_attempts_put_is_read(read, copy);
		buf_printf(read, "AS is_read_%zu, %s", i, copy->newest);
		buf_printf(or_read, " OR is_read_%zu", i);
	}
}

static void put_days(struct buf *sql)
{
	static const char copied_days[] =
#include "aggregator/sql/copied_days.sql.inc"
		;
	struct buf read = {0}, or_read = {0}, days = {0};

	put_read(&read, &or_read);
	day_attempts_put(&days);
	statement_put(sql, copied_days,
		      (const struct statement_blank[]){
			      {"read", statement_piece(sql, &read)},
			      {"days", statement_piece(sql, &days)},
			      {"or_read", statement_piece(sql, &or_read)},
			      {NULL, NULL},
		      });
	buf_free(&read);
	buf_free(&days);
	buf_free(&or_read);
}

static int read_days(struct clickhouse *ch, struct copied_days *ret,
		     struct error *err)
{
	struct buf sql = {0};
	int status;

	put_days(&sql);
	status = buf_cstr(&sql) ? clickhouse_rows(ch, sql.data, NULL,
						  clickhouse_number_columns(
							  3 + 2 * COPIED_KINDS),
						  take_day, ret, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

int copied_days_read_all(struct clickhouse *ch,
			 struct copied_days ret[COPIED_KINDS],
			 struct error *err)
{
	static const char kept[] =
#include "aggregator/sql/days_kept_from.sql.inc"
		;
	uint64_t from = 0;

	for (size_t i = 0; i < COPIED_KINDS; i++)
		ret[i] = (struct copied_days){0};
	if (clickhouse_numbers(ch, kept, NULL, &from, 1, err) < 0 ||
	    read_days(ch, ret, err) < 0) {
		for (size_t i = 0; i < COPIED_KINDS; i++)
			copied_days_release(&ret[i]);
		return error_wrap(err, "copied days");
	}
	for (size_t i = 0; i < COPIED_KINDS; i++) {
		ret[i].kept_from = (int64_t)from;
		if (ret[i].rows_from < ret[i].kept_from)
			ret[i].rows_from = ret[i].kept_from;
		if (ret[i].days_from < ret[i].kept_from)
			ret[i].days_from = ret[i].kept_from;
	}
	return 0;
}

int copied_days_read(struct clickhouse *ch, enum copied which,
		     struct copied_days *ret, struct error *err)
{
	struct copied_days all[COPIED_KINDS];

	*ret = (struct copied_days){0};
	if (copied_days_read_all(ch, all, err) < 0)
		return -1;
	for (size_t i = 0; i < COPIED_KINDS; i++) {
		if (i == which)
			*ret = all[i];
		else
			copied_days_release(&all[i]);
	}
	return 0;
}

void copied_days_release(struct copied_days *days)
{
	free(days->items);
	*days = (struct copied_days){0};
}

bool copied_days_keep_whole(struct copied_days *days, int64_t from, int64_t to,
			    int64_t at)
{
	bool dropped = false;
	size_t kept = 0;

	for (size_t i = 0; i < days->count; i++) {
		const struct copied_day *day = &days->items[i];
		int64_t end = day->start + CIVIL_DAY;

		if (day->start >= from && end <= to &&
		    (at <= day->start || at >= end))
			days->items[kept++] = *day;
		else if (day->start < to && end > from)
			dropped = dropped || day->dropped;
	}
	days->count = kept;
	return dropped;
}

void copied_days_keep_common(struct copied_days *days,
			     const struct copied_days *others)
{
	size_t kept = 0, at = 0;

	for (size_t i = 0; i < days->count; i++) {
		int64_t start = days->items[i].start;

		while (at < others->count && others->items[at].start < start)
			at++;
		if (at < others->count && others->items[at].start == start)
			days->items[kept++] = days->items[i];
	}
	days->count = kept;
}

uint64_t copied_days_events(const struct copied_days *days)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < days->count; i++)
		sum += days->items[i].events;
	return sum;
}

int copied_days_put(const struct copied_days *days, struct buf *starts,
		    struct buf *attempts, struct error *err)
{
	buf_putc(starts, '[');
	buf_putc(attempts, '[');
	for (size_t i = 0; i < days->count; i++) {
		const struct copied_day *day = &days->items[i];

		buf_printf(starts, "%s%" PRId64, i ? "," : "", day->start);
		buf_printf(attempts, "%s%" PRIu64, i ? "," : "", day->attempt);
	}
	buf_putc(starts, ']');
	buf_putc(attempts, ']');
	return buf_cstr(starts) && buf_cstr(attempts) ? 0
						      : error_set_nomem(err);
}
