-- @dimensions@: 'verdict', 'tag'
-- @index@: multiIf(dimension = 'verdict', 0, dimension = 'tag', 1, 2)
-- @open_values@: include aggregator/sql/parts/open_values_of_link.sql
SELECT @index@ AS d, value AS v, rest AS r, events AS e, clicks AS c, bots AS b, prefetches AS p
FROM link_values
PREWHERE link_id = {link_id:UInt64}
WHERE day >= toDate(toDateTime({from:UInt32}, 'UTC'))
  AND day <= toDate(toDateTime({to:UInt32}, 'UTC'))
  AND attempt = transform(toUInt32(toDateTime(day, 'UTC')), {value_days:Array(UInt32)},
        {value_attempts:Array(UInt64)}, toUInt64(0))
  AND
  -- include: aggregator/sql/parts/is_of_caller.sql
  AND dimension IN (@dimensions@)
@open_values@
