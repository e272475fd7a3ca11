-- @at@: hour
-- @dimension@: toString(dimension)
-- @events@: events
-- @table@: stats_hourly
-- @is_compared@: dimension IN ('total', 'country')
SELECT toUInt32(toStartOfDay(@at@)) AS d, @dimension@ AS m, sum(@events@) AS n, false AS is_one
FROM @table@
WHERE @is_compared@
GROUP BY d, m
