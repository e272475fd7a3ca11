-- @states@: , people AS vi, people_ips AS ad
-- @hours@: include aggregator/sql/parts/looked_up_hours.sql
-- @days@: AND has({value_days:Array(UInt32)}, toUInt32(toStartOfDay(slot)))
-- @which@: NOT rest
-- @dimension@: total
SELECT slot AS t, value AS v, events AS e, clicks AS c, bots AS b, prefetches AS p,
    emptied AS x @states@
FROM stats_hourly
WHERE @hours@ @days@
  AND dimension = '@dimension@'
  AND @which@
