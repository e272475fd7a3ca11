-- @open@: AND ts >= toDateTime64(0, 3, 'UTC')
-- @once@: include aggregator/sql/parts/is_counted_once.sql
-- @value@: toString(verdict)
UNION ALL
SELECT @value@ AS v,
    -- include: aggregator/sql/parts/slot_counts_of_rows.sql
FROM clicks
WHERE
    -- include: aggregator/sql/parts/is_of_owners.sql
    @open@ @once@
GROUP BY v
