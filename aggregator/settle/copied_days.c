#include "aggregator/settle/copied_days.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aggregator/settle/day_attempts.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"

static const struct {
	const char *newest, *is_read;
} of[COPIED_KINDS] = {
	[COPIED_LINKS] = {"n_sealed", SQL_LINKS_ARE_READ},
	[COPIED_OWNERS] = {"n_owner", SQL_OWNERS_ARE_READ},
	[COPIED_TOTALS] = {"n_rolled", SQL_IS_ROLLED},
};

/* A row is: start of the day, its attempt, whether it is read, number of its
 * drop, its events. */
static int add_day(void *arg, char **f, struct error *err)
{
	struct copied_days *days = arg;
	int64_t end = tsv_i64(f[0]) + CIVIL_DAY;
	struct copied_day *more;

	if (tsv_u64(f[3]))
		days->rows_from = end;
	if (!tsv_u64(f[2])) {
		days->days_from = end;
		return 0;
	}
	more = reallocarray(days->items, days->count + 1, sizeof(*more));
	if (!more)
		return error_set_nomem(err);
	days->items = more;
	more[days->count++] = (struct copied_day){
		.start = tsv_i64(f[0]),
		.attempt = tsv_u64(f[1]),
		.events = tsv_u64(f[4]),
		.dropped = tsv_u64(f[3]) > 0,
	};
	return 0;
}

static int read_days(struct clickhouse *ch, enum copied which,
		     struct copied_days *ret, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_printf(&sql,
		   "SELECT d, %s, %sAS is_read, n_dropped, n_linked "
		   "FROM " SQL_DAY_ATTEMPTS
		   "WHERE (is_read OR n_dropped > 0) AND "
		   "toDateTime(d, 'UTC') >= (SELECT max(unit) FROM settled "
		   "WHERE kind = 'kept_from') ORDER BY d FORMAT TabSeparated",
		   of[which].newest, of[which].is_read);
	status = buf_cstr(&sql) ? clickhouse_rows(ch, sql.data, NULL, "nnnnn",
						  add_day, ret, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

int copied_days_read(struct clickhouse *ch, enum copied which,
		     struct copied_days *ret, struct error *err)
{
	static const char kept[] =
		"SELECT toUInt32(max(unit)) FROM settled "
		"WHERE kind = 'kept_from' FORMAT TabSeparated";
	uint64_t from = 0;

	*ret = (struct copied_days){0};
	if (clickhouse_numbers(ch, kept, NULL, &from, 1, err) < 0 ||
	    read_days(ch, which, ret, err) < 0) {
		copied_days_release(ret);
		return error_wrap(err, "copied days");
	}
	ret->kept_from = (int64_t)from;
	if (ret->rows_from < ret->kept_from)
		ret->rows_from = ret->kept_from;
	if (ret->days_from < ret->kept_from)
		ret->days_from = ret->kept_from;
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
		else
			dropped = dropped || day->dropped;
	}
	days->count = kept;
	return dropped;
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
