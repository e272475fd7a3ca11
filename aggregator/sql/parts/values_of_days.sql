-- @dimension@: tag
-- @which@: NOT rest
-- @open_values@: include aggregator/sql/parts/open_values_of_all.sql
SELECT value AS v, events AS e, clicks AS c, bots AS b, prefetches AS p
FROM day_values
WHERE day >= toDate(toDateTime({from:UInt32}, 'UTC'))
  AND day <= toDate(toDateTime({to:UInt32}, 'UTC'))
  AND attempt = transform(toUInt32(toDateTime(day, 'UTC')), {value_days:Array(UInt32)},
        {value_attempts:Array(UInt64)}, toUInt64(0))
  AND dimension = '@dimension@'
  AND @which@
@open_values@
