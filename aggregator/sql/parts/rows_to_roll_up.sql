stats_hourly
WHERE
  -- include: aggregator/sql/parts/hours_in_range.sql
  AND
  -- include: aggregator/sql/parts/is_published_hour.sql
