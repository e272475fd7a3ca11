-- @open@: AND ts >= toDateTime64(0, 3, 'UTC')
-- @once@: include aggregator/sql/parts/is_counted_once.sql
UNION ALL
SELECT link_id AS l, ts >= toDateTime64({start:UInt32}, 3, 'UTC') AS is_now,
    -- include: aggregator/sql/parts/slot_counts_of_rows.sql
FROM clicks
WHERE
    -- include: aggregator/sql/parts/is_of_owners.sql
    @open@ @once@
GROUP BY l, is_now
