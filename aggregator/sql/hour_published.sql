SELECT toUInt32(hour) AS h, sum(events)
FROM stats_hourly
WHERE dimension = 'total'
  -- include: aggregator/sql/parts/in_settled_hours.sql
GROUP BY hour
FORMAT TabSeparated
