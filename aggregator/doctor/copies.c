#include "aggregator/doctor/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/settle/day_attempts.h"
#include "aggregator/settle/owner_days.h"
#include "aggregator/settle/rollups.h"
#include "aggregator/settle/seal.h"
#include "aggregator/settle/value_days.h"
#include "aggregator/zone/civil.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/* Counts the days that have late clicks and are settled with them before they
 * are copied. */
static int count_before_copy(struct doctor *d, const struct day_copy_kind *kind,
			     int64_t due, uint64_t *ret, struct error *err)
{
	char closed[24];
	const struct clickhouse_param params[] = {{"param_closed", closed},
						  {NULL, NULL}};
	struct buf sql = {0};
	int status;

	snprintf(closed, sizeof(closed), "%" PRId64,
		 settling_now(&d->settling) - CLOCK_DAY - due);
	buf_printf(&sql,
		   "SELECT count() FROM " SQL_DAY_ATTEMPTS
		   "WHERE n_day > 0 AND n_hour > n_day AND %s AND "
		   "toInt64(d) * 1000 <= {closed:Int64} FORMAT TabSeparated",
		   kind->which);
	status = buf_cstr(&sql) ? clickhouse_numbers(d->ch, sql.data, params,
						     ret, 1, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

static int look_at_copy(struct doctor *d, const char *what, const char *done,
			const struct day_copy_kind *kind, struct error *err)
{
	/* Time after a day's end (ms) at which its copy is due. */
	int64_t due = kind->when_late ? d->settings->clicks.late_window
				      : d->settings->day_grace;
	char text[CIVIL_NAME_MAX], others[64] = "";
	uint64_t days, before = 0;
	int64_t first, since;

	if (day_copy_pending(&d->settling, kind, &days, &first, err) < 0 ||
	    count_before_copy(d, kind, due, &before, err) < 0)
		return -1;
	if (before)
		snprintf(others, sizeof(others),
			 "; %" PRIu64 " with late clicks to be settled before",
			 before);
	since = (first + CLOCK_DAY / 1000) * 1000 + due;
	if (!days)
		doctor_say(d, DOCTOR_FINE, what, "no day waits for it%s",
			   others);
	else
		doctor_say(d,
			   settling_now(&d->settling) > since + DOCTOR_DAY_AGE
				   ? DOCTOR_BEHIND
				   : DOCTOR_FINE,
			   what, "%" PRIu64 " day%s to be %s, from %s on%s",
			   days, doctor_plural(days), done,
			   civil_day_name(first, text), others);
	return 0;
}

int look_at_copies(struct doctor *d, struct error *err)
{
	return look_at_copy(d, "sealing", "sealed", &sealed_days, err) < 0 ||
			       look_at_copy(d, "owners' days", "copied",
					    &owner_days, err) < 0 ||
			       look_at_copy(d, "days' values", "copied",
					    &value_days, err) < 0 ||
			       look_at_copy(d, "rollups", "rolled up",
					    &rolled_days, err) < 0
		       ? -1
		       : 0;
}
