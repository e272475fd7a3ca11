-- @row_values@: [(0, toString(verdict)), (1, toString(country))]
-- @open@: AND ts >= toDateTime64(0, 3, 'UTC')
-- @once@: include aggregator/sql/parts/is_counted_once.sql
UNION ALL
SELECT (arrayJoin(@row_values@) AS pair).1 AS d, pair.2 AS v, false AS r,
    -- include: aggregator/sql/parts/slot_counts_of_rows.sql
FROM clicks
WHERE true @open@ @once@
GROUP BY d, v
