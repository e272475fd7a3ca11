#include "aggregator/settle/taken_back.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/settle/settling.h"
#include "common/clickhouse/rows.h"

int taken_back_count(struct clickhouse *ch, int64_t from, int64_t to,
		     uint64_t attempt, struct taken_back *ret,
		     struct error *err)
{
	/*
	 * If two undos of one import record numbers, the greatest counts.
	 * While rows are being deleted, all of them may be missing, whenever
	 * the hour was published.  If the attempt's time is in the future,
	 * because the clock was set back, all rows count.
	 */
	static const char sql[] =
		"SELECT sum(u_most), sumIf(u_most, u_ms = 0) FROM (SELECT "
		"identity AS u_log, epoch AS u_epoch, u_hour, max(u_rows) AS "
		"u_most FROM import_journal ARRAY JOIN "
		"arraySlice(head, 1, intDiv(length(head), 2)) AS u_hour, "
		"arraySlice(head, intDiv(length(head), 2) + 1) AS u_rows "
		"WHERE what = 'undo' AND u_hour >= {from:UInt64} AND "
		"u_hour < {to:UInt64} GROUP BY u_log, u_epoch, u_hour) AS h "
		"LEFT JOIN (SELECT identity AS t_log, epoch AS t_epoch, "
		"min(toUnixTimestamp64Milli(toDateTime64(at, 3, 'UTC'))) AS "
		"u_ms FROM import_journal WHERE what = 'taken' "
		"GROUP BY t_log, t_epoch) AS t "
		"ON h.u_log = t.t_log AND h.u_epoch = t.t_epoch "
		"WHERE u_ms = 0 OR u_ms >= {since:Int64} OR {since:Int64} > "
		"toUnixTimestamp64Milli(now64(3, 'UTC')) FORMAT TabSeparated";
	char first[24], end[24], since[24];
	const struct clickhouse_param params[] = {{"param_from", first},
						  {"param_to", end},
						  {"param_since", since},
						  {"join_use_nulls", "0"},
						  {NULL, NULL}};
	uint64_t n[2] = {0};

	snprintf(first, sizeof(first), "%" PRId64, from);
	snprintf(end, sizeof(end), "%" PRId64, to);
	snprintf(since, sizeof(since), "%" PRId64, settling_ms_of(attempt));
	if (clickhouse_numbers(ch, sql, params, n, 2, err) < 0)
		return error_wrap(err, "import_journal");
	*ret = (struct taken_back){n[0], n[1]};
	return 0;
}
