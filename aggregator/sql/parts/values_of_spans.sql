-- @states@: , people AS vi
-- @index@: multiIf(dimension = 'country', 0, dimension = 'city', 1, 2)
-- @dimensions@: 'country', 'city'
-- @few@: AND (dimension != 'country' OR value IN ('a'))
SELECT @index@ AS d, value AS v, rest AS r, events AS e, clicks AS c, bots AS b, prefetches AS p,
    emptied AS x @states@
FROM stats_spans
WHERE
  -- include: aggregator/sql/parts/is_of_rolled_day.sql
  AND dimension IN (@dimensions@)
  AND span = 86400
  @few@
