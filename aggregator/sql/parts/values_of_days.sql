-- @dimensions@: 'region', 'asn'
-- @index@: multiIf(dimension = 'region', 0, dimension = 'asn', 1, 2)
-- @open_values@: include aggregator/sql/parts/open_values_of_all.sql
SELECT @index@ AS d, value AS v, rest AS r, events AS e, clicks AS c, bots AS b, prefetches AS p
FROM day_values
WHERE day >= toDate(toDateTime({from:UInt32}, 'UTC'))
  AND day <= toDate(toDateTime({to:UInt32}, 'UTC'))
  AND attempt = transform(toUInt32(toDateTime(day, 'UTC')), {value_days:Array(UInt32)},
        {value_attempts:Array(UInt64)}, toUInt64(0))
  AND dimension IN (@dimensions@)
@open_values@
