SELECT toUInt64(toUInt32(hour)) AS h, sum(events) AS n
FROM stats_hourly
WHERE dimension = 'total'
  AND toUInt32(hour) IN {hours:Array(UInt32)}
  -- include: aggregator/sql/parts/in_base_hours.sql
GROUP BY hour
FORMAT TabSeparated
