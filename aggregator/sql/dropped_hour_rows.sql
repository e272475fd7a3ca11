SELECT h, sum(n), 0
FROM (
    SELECT toUInt64(intDiv(toUnixTimestamp(ts), 3600) * 3600) AS h, count() AS n
    FROM (
        -- include: aggregator/sql/parts/rows_beside.sql
    )
    WHERE h IN {hours:Array(UInt32)}
    GROUP BY h
    UNION ALL
    SELECT toUInt64(toUInt32(hour)) AS h, sum(events) AS n
    FROM stats_hourly
    WHERE dimension = 'total'
      AND toUInt32(hour) IN {hours:Array(UInt32)}
      -- include: aggregator/sql/parts/in_base_hours.sql
    GROUP BY hour)
GROUP BY h
FORMAT TabSeparated
