-- @counts@: include aggregator/sql/parts/day_counts_of_rows.sql
-- @rows@: FROM clicks
SELECT toUInt32(toStartOfDay(ts)) AS d, toUInt64(0), @counts@
@rows@
GROUP BY d
