-- @open@: AND ts >= toDateTime64(0, 3, 'UTC')
-- @once@: include aggregator/sql/parts/is_counted_once.sql
-- @row_values@: [(0, toString(verdict)), (1, toString(country))]
UNION ALL
SELECT (arrayJoin(@row_values@) AS pair).1 AS d, pair.2 AS v, false AS r,
    -- include: aggregator/sql/parts/slot_counts_of_rows.sql
FROM clicks
WHERE link_id = {link_id:UInt64} @open@ @once@
  AND
  -- include: aggregator/sql/parts/is_of_caller.sql
GROUP BY d, v
