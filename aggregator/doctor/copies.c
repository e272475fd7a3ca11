#include "aggregator/doctor/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/settle/day_attempts.h"
#include "aggregator/settle/day_copy.h"
#include "aggregator/zone/civil.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"
#include "common/clock.h"

static void put_before_copy(struct buf *sql, const struct derived *copy)
{
	static const char text[] =
#include "aggregator/sql/days_before_copy.sql.inc"
		;
	struct buf attempts = {0}, can_copy = {0};

	day_attempts_put(&attempts);
	day_attempts_put_can_copy(&can_copy, copy);
	const struct statement_blank blanks[] = {
		{"day_attempts", statement_piece(sql, &attempts)},
		{"can_copy", statement_piece(sql, &can_copy)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&attempts);
	buf_free(&can_copy);
}

/* Counts the days that have late clicks and are settled with them before they
 * are copied. */
static int count_before_copy(struct doctor *d, const struct derived *copy,
			     int64_t due, uint64_t *ret, struct error *err)
{
	char closed[24];
	const struct clickhouse_param params[] = {{"param_closed", closed},
						  {NULL, NULL}};
	struct buf sql = {0};
	int status;

	snprintf(closed, sizeof(closed), "%" PRId64,
		 settling_now(&d->settling) - CLOCK_DAY - due);
	put_before_copy(&sql, copy);
	status = buf_cstr(&sql) ? clickhouse_numbers(d->ch, sql.data, params,
						     ret, 1, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

static int look_at_copy(struct doctor *d, const struct derived *copy,
			struct error *err)
{
	/* Time after a day's end (ms) at which its copy is due. */
	int64_t due = copy->when_late || copy->when_old
			      ? day_copy_age(&d->settling, copy)
			      : d->settings->day_grace;
	char text[CIVIL_NAME_MAX], others[64] = "";
	uint64_t days, before = 0;
	int64_t first, since;

	if (day_copy_pending(&d->settling, copy, &days, &first, err) < 0 ||
	    count_before_copy(d, copy, due, &before, err) < 0)
		return -1;
	if (before)
		snprintf(others, sizeof(others),
			 "; %" PRIu64 " with late clicks to be settled before",
			 before);
	since = (first + CLOCK_DAY / 1000) * 1000 + due;
	if (!days)
		doctor_say(d, DOCTOR_FINE, copy->line, "no day waits for it%s",
			   others);
	else
		doctor_say(d,
			   settling_now(&d->settling) > since + DOCTOR_DAY_AGE
				   ? DOCTOR_BEHIND
				   : DOCTOR_FINE,
			   copy->line,
			   "%" PRIu64 " day%s to be %s, from %s on%s", days,
			   doctor_plural(days), copy->done,
			   civil_day_name(first, text), others);
	return 0;
}

int look_at_copies(struct doctor *d, struct error *err)
{
	for (size_t i = 0; i < COPIED_KINDS; i++)
		if (look_at_copy(d, derived_copy((enum copied)i), err) < 0)
			return -1;
	return 0;
}
