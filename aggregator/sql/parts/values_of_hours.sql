-- @states@: , people AS vi
-- @index@: multiIf(dimension = 'country', 0, dimension = 'city', 1, 2)
-- @dimensions@: 'country', 'city'
-- @hours@: include aggregator/sql/parts/looked_up_hours.sql
-- @few@: AND (dimension != 'country' OR value IN ('a'))
SELECT @index@ AS d, value AS v, rest AS r, events AS e, clicks AS c, bots AS b, prefetches AS p,
    emptied AS x @states@
FROM stats_hourly
WHERE @hours@
  AND dimension IN (@dimensions@)
  @few@
