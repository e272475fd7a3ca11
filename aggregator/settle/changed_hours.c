#include "aggregator/settle/changed_hours.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "schemas/ingest_progress.h"

int changed_hours_report(const struct settling *s, struct buf *hours,
			 bool dropped, struct error *err)
{
	static const char anywhere[] =
		PROGRESS_REPORT_RESCORED(PROGRESS_PLACES_BEYOND_DROPPED);
	static const char now[] = PROGRESS_REPORT_RESCORED(PROGRESS_PLACES);
	struct buf host = {0};
	int status;

	clickhouse_escape(&host, s->settler, strlen(s->settler));
	if (!buf_cstr(hours) || !buf_cstr(&host)) {
		status = error_set_nomem(err);
	} else {
		const struct clickhouse_param params[] = {
			{"param_hours", hours->data},
			{"param_host", host.data},
			{"max_insert_threads", "1"},
			{NULL, NULL}};

		status = clickhouse_query(s->ch, dropped ? anywhere : now,
					  params, NULL, err);
	}
	buf_free(&host);
	return status;
}

static int take_hour(void *arg, char **f, struct error *err)
{
	struct buf *hours = arg;

	(void)err;
	buf_printf(hours, "%s%" PRIu64, hours->len ? "," : "[", tsv_u64(f[0]));
	return 0;
}

int changed_hours_report_day(const struct settling *s, int64_t start,
			     bool dropped, bool *ret, struct error *err)
{
	static const char sql[] =
		"SELECT DISTINCT toUInt32(unit) AS h FROM settled WHERE "
		"kind = 'hour' AND unit >= toDateTime({from:UInt32}, 'UTC') "
		"AND unit < toDateTime({to:UInt32}, 'UTC') AND "
		"(SELECT count() FROM ingest_progress WHERE "
		"topic = '" PROGRESS_TOPIC_RESCORE "' AND "
		"inserted_at > now64(3, 'UTC') - toIntervalDay(1) AND "
		"arrayExists(x -> x >= {from:UInt32} AND x < {to:UInt32}, "
		"mapKeys(hours))) = 0 ORDER BY h FORMAT TabSeparated";
	char from[24], to[24];
	const struct clickhouse_param params[] = {
		{"param_from", from}, {"param_to", to}, {NULL, NULL}};
	struct buf hours = {0};
	int status;

	snprintf(from, sizeof(from), "%" PRId64, start);
	snprintf(to, sizeof(to), "%" PRId64, start + CIVIL_DAY);
	status = clickhouse_rows(s->ch, sql, params, "n", take_hour, &hours,
				 err);
	*ret = hours.len > 0;
	buf_putc(&hours, ']');
	if (status == 0 && *ret)
		status = s->check_lease(s->arg, err);
	if (status == 0 && *ret)
		status = changed_hours_report(s, &hours, dropped, err);
	buf_free(&hours);
	return status;
}
