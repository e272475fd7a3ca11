SELECT h
FROM (
    SELECT toUInt32(intDiv(toUnixTimestamp(ts), 3600) * 3600) AS h, count() AS n_rows,
        toUInt64(0) AS n_settled
    FROM clicks
    WHERE outcome = 'repeated'
      AND ts >= toDateTime64({from:UInt32}, 3, 'UTC')
      AND ts < toDateTime64({to:UInt32}, 3, 'UTC')
      AND
      -- include: aggregator/sql/parts/is_of_kept_day.sql
    GROUP BY h
    UNION ALL
    SELECT toUInt32(hour) AS h, toUInt64(0) AS n_rows, sum(events) AS n_settled
    FROM stats_hourly
    WHERE dimension = 'outcome'
      AND value = 'repeated'
      AND
      -- include: aggregator/sql/parts/is_published_hour_asked_for.sql
      AND toDateTime(intDiv(toUnixTimestamp(hour), 86400) * 86400, 'UTC') NOT IN (
            SELECT unit
            FROM settled
            WHERE kind = 'dropped_day')
    GROUP BY h)
GROUP BY h
HAVING sum(n_rows) != sum(n_settled)
ORDER BY h
FORMAT TabSeparated
