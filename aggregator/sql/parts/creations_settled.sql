-- @hour_bucket@: roundDown(toUnixTimestamp(hour), CAST('[0,3600]', 'Array(Int64)'))
-- @value@: toString(account)
-- @filters@: AND has(splitByChar('\n', {f0:String}), toString(domain))
UNION ALL
SELECT toInt64(@hour_bucket@) AS b, @value@ AS v, sum(links) AS n
FROM creations
WHERE hour >= toDateTime({from:UInt32}, 'UTC') AND hour < toDateTime({to:UInt32}, 'UTC')
  AND attempt = transform(toUInt32(hour), {hours:Array(UInt32)}, {attempts:Array(UInt64)},
        toUInt64(0))
  AND
  -- include: aggregator/sql/parts/is_creation_of_caller.sql
  @filters@
GROUP BY b, v
