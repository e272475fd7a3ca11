#include "collector/tools/dropped_days.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/clickhouse/rows.h"
#include "common/clock.h"

/* The comparison uses text: before migration 0034 this kind does not exist. */
#define IS_DROPPED "toString(kind) = 'dropped_day'"

int dropped_days_end(struct clickhouse *ch, int64_t *ret_ms, struct error *err)
{
	static const char sql[] =
		"SELECT countIf(" IS_DROPPED "), "
		"toUnixTimestamp(maxIf(unit, " IS_DROPPED ")), "
		"toUnixTimestamp(maxIf(unit, toString(kind) = 'kept_from')) "
		"FROM settled FORMAT TabSeparated";
	uint64_t n[3] = {0};
	int64_t kept_from;

	if (clickhouse_numbers(ch, sql, NULL, n, 3, err) < 0)
		return error_wrap(err, "dropped days");
	kept_from = (int64_t)n[2] * CLOCK_SECOND;
	*ret_ms = n[0] ? (int64_t)n[1] * CLOCK_SECOND + CLOCK_DAY : 0;
	if (*ret_ms < kept_from)
		*ret_ms = kept_from;
	return 0;
}

int dropped_days_has(struct clickhouse *ch, int64_t day, bool *ret,
		     struct error *err)
{
	static const char sql[] =
		"SELECT count() FROM settled WHERE " IS_DROPPED
		" AND toUInt32(unit) = {unit:UInt32} OR toString(kind) = "
		"'kept_from' AND toUInt32(unit) > {unit:UInt32} "
		"FORMAT TabSeparated";
	char unit[24];
	const struct clickhouse_param params[] = {{"param_unit", unit},
						  {NULL, NULL}};
	uint64_t n = 0;

	snprintf(unit, sizeof(unit), "%" PRId64,
		 day * CLOCK_DAY / CLOCK_SECOND);
	if (clickhouse_numbers(ch, sql, params, &n, 1, err) < 0)
		return error_wrap(err, "dropped days");
	*ret = n > 0;
	return 0;
}
