SELECT toUInt32(hour) AS h, sum(events)
FROM stats_hourly
WHERE dimension = 'total'
  AND
  -- include: aggregator/sql/parts/is_published_hour_asked_for.sql
GROUP BY h
