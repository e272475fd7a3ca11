SELECT toUInt32(hour) AS h, sum(events)
FROM stats_hourly
WHERE dimension = 'outcome'
  AND value = 'repeated'
  AND
  -- include: aggregator/sql/parts/hours_in_range.sql
  AND attempt IN {attempts:Array(UInt64)}
GROUP BY hour
FORMAT TabSeparated
