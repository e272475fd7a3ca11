INSERT INTO settled (kind, unit, attempt, blocks, rows, provisional, read_until,
    complete_until, settled_at, settler)
SELECT 'hour', toDateTime(want.e.1, 'UTC'), want.e.2, want.e.3, want.e.4, want.e.6 > 0,
    fromUnixTimestamp64Milli({read_until:Int64}, 'UTC'),
    fromUnixTimestamp64Milli({complete_until:Int64}, 'UTC'), now64(3, 'UTC'),
    {settler:String}
FROM (
    SELECT arrayJoin(arrayZip({hours:Array(UInt32)}, {attempts:Array(UInt64)},
            {blocks:Array(UInt64)}, {rows:Array(UInt64)}, {counts:Array(UInt64)},
            {provisional:Array(UInt64)})) AS e,
        e.1 AS h, e.2 AS a) AS want
LEFT JOIN (
    -- include: aggregator/sql/parts/staged_hours.sql
) AS have
  ON want.h = have.h AND want.a = have.attempt
WHERE want.e.5 = have.n
  AND toDateTime(intDiv(want.h, 86400) * 86400, 'UTC') NOT IN (
    -- include: aggregator/sql/parts/days_dropped_since.sql
)
  AND now64(3, 'UTC') < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
