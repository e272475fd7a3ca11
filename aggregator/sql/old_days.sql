-- @is_copied@: n_sealed > 0 AND n_owner > 0
-- @day_attempts@: (SELECT 1 AS d, 1 AS n_sealed, 1 AS n_owner, 0 AS n_dropped)
SELECT o.d, n_rows, n_bytes, @is_copied@, n_dropped, n_sealed > n_dropped, n_events,
    n_kept = 24 AND n_first >= n_sealed, toUnixTimestamp64Milli(dropped_at), n_runs
FROM (
    SELECT toUInt64(toUInt32(toDateTime(toDate(partition_id), 'UTC'))) AS d,
        sum(rows) AS n_rows, sum(bytes_on_disk) AS n_bytes
    FROM system.parts
    WHERE database = currentDatabase() AND table = 'clicks' AND active AND rows > 0
    GROUP BY d) AS o
LEFT JOIN @day_attempts@ AS a ON o.d = a.d
LEFT JOIN (
    SELECT toUInt64(toUInt32(toStartOfDay(hour))) AS d, sum(events) AS n_events
    -- include: aggregator/sql/parts/published_totals_by_day.sql
    ) AS e ON o.d = e.d
LEFT JOIN (
    -- include: aggregator/sql/parts/reconciled_days.sql
) AS r ON o.d = r.d
LEFT JOIN (
    SELECT toUInt64(toUInt32(unit)) AS d, max(settled_at) AS dropped_at
    FROM settled
    WHERE kind = 'dropped_day'
    GROUP BY d) AS x ON o.d = x.d
LEFT JOIN (
    SELECT toUInt64(toUInt32(toDateTime(day, 'UTC'))) AS d, count() AS n_runs
    FROM (
        SELECT day, run
        FROM rescored
        GROUP BY day, run
        HAVING countIf(state = 'done') = 0)
    GROUP BY d) AS u ON o.d = u.d
WHERE toInt64(o.d) * 1000 + {age:Int64} <= {old_by:Int64}
ORDER BY o.d
FORMAT TabSeparated
