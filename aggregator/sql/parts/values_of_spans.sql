-- @states@: , people AS vi
-- @index@: multiIf(dimension = 'country', 0, dimension = 'city', 1, 2)
-- @dimensions@: 'country', 'city'
-- @few@: AND (dimension != 'country' OR value IN ('a'))
SELECT @index@ AS d, value AS v, rest AS r, events AS e, clicks AS c, bots AS b, prefetches AS p,
    emptied AS x @states@
FROM stats_spans
WHERE span_start >= toDateTime({from:UInt32}, 'UTC')
  AND span_start < toDateTime({to:UInt32}, 'UTC')
  AND attempt = transform(toUInt32(toStartOfDay(span_start)), {days:Array(UInt32)},
        {attempts:Array(UInt64)}, toUInt64(0))
  AND dimension IN (@dimensions@)
  AND span = 86400
  @few@
