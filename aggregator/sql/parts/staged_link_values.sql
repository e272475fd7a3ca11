link_values
WHERE day =
  -- include: aggregator/sql/parts/day_at_start.sql
  AND attempt = {attempt:UInt64}
