-- @hour_bucket@: roundDown(toUnixTimestamp(t), CAST('[0,3600]', 'Array(Int64)'))
-- @value@: account
-- @filters@: AND has(splitByChar('\n', {f0:String}), toString(domain))
UNION ALL
SELECT toInt64(@hour_bucket@) AS b, toString(w) AS v, sum(m) AS n
FROM (
    SELECT hour AS t, @value@ AS w, sum(links) AS m
    FROM creations
    WHERE by_owner = {by_owner:Bool}
      AND hour >= toDateTime({from:UInt32}, 'UTC') AND hour < toDateTime({to:UInt32}, 'UTC')
      AND attempt = transform(toUInt32(hour), {hours:Array(UInt32)},
            {attempts:Array(UInt64)}, toUInt64(0))
      AND
      -- include: aggregator/sql/parts/is_creation_of_caller.sql
      @filters@
    GROUP BY t, w)
GROUP BY b, v
