-- @states@: , people AS vi, people_ips AS ad
-- @dimension@: total
-- @span@: 86400
-- @which@: NOT rest
SELECT span_start AS t, value AS v, events AS e, clicks AS c, bots AS b, prefetches AS p,
    emptied AS x @states@
FROM stats_spans
WHERE
  -- include: aggregator/sql/parts/is_of_rolled_day.sql
  AND dimension = '@dimension@'
  AND span = @span@
  AND @which@
