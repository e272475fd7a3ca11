-- @count@: 2
-- @dimensions@: 'total', 'country'
SELECT h, attempt,
    if(min(m) = max(m) AND count() = @count@, min(m), 18446744073709551615) AS n
FROM (
    SELECT toUInt32(hour) AS h, attempt, sum(events) AS m
    FROM stats_hourly
    WHERE dimension IN (@dimensions@)
      AND
      -- include: aggregator/sql/parts/hours_in_range.sql
      AND attempt IN {attempts:Array(UInt64)}
    GROUP BY hour, attempt, dimension)
GROUP BY h, attempt
