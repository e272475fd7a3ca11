-- @upto@: AND offset < 10
SELECT intDiv(toUnixTimestamp(ts), 3600) * 3600 AS h, count(), countIf(outcome = 'repeated')
FROM clicks
WHERE
    -- include: aggregator/sql/parts/is_in_range.sql
  AND h IN {hours:Array(UInt32)}
  @upto@
GROUP BY h
FORMAT TabSeparated
