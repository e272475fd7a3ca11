-- @states@: , people AS vi, people_ips AS ad
-- @dimension@: total
-- @span@: 86400
-- @which@: NOT rest
SELECT span_start AS t, value AS v, events AS e, clicks AS c, bots AS b, prefetches AS p,
    emptied AS x @states@
FROM stats_spans
WHERE span_start >= toDateTime({from:UInt32}, 'UTC')
  AND span_start < toDateTime({to:UInt32}, 'UTC')
  AND attempt = transform(toUInt32(toStartOfDay(span_start)), {days:Array(UInt32)},
        {attempts:Array(UInt64)}, toUInt64(0))
  AND dimension = '@dimension@'
  AND span = @span@
  AND @which@
