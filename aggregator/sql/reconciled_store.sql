-- @columns@: , n0 UInt64, n1 UInt64
-- @rows@: (1792800000, 1, 2, 3)
INSERT INTO reconciled_hours (hour,
    -- include: aggregator/sql/parts/reconciled_numbers.sql
    inexact, settling, waits, sealed_by, reconciled_at)
SELECT h.*, greatest(now64(3, 'UTC'), b.kept + toIntervalMillisecond(1))
FROM (
    SELECT *
    FROM values('at UInt32@columns@, s UInt64', @rows@)) AS h
LEFT JOIN (
    SELECT toUInt32(hour) AS start, max(reconciled_at) AS kept
    FROM reconciled_hours
    WHERE hour >= toDateTime({from:UInt32}, 'UTC') AND hour < toDateTime({to:UInt32}, 'UTC')
    GROUP BY start) AS b ON h.at = b.start
