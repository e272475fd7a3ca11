-- @rows@: FROM clicks
SELECT toUInt32(toStartOfDay(ts)) AS d, toUInt64(0),
    -- include: aggregator/sql/parts/day_counts_of_rows.sql
@rows@
GROUP BY d
