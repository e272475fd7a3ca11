SELECT toUInt32(hour) AS h, count()
FROM stats_hourly
WHERE rest
  AND
  -- include: aggregator/sql/parts/hours_in_range.sql
  AND attempt IN {attempts:Array(UInt64)}
GROUP BY hour
FORMAT TabSeparated
