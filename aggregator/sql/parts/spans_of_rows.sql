-- @states_of_rows@: include aggregator/sql/parts/states_of_rows.sql
-- @open@: AND ts >= toDateTime64(0, 3, 'UTC')
-- @once@: include aggregator/sql/parts/is_counted_once.sql
SELECT
    -- include: aggregator/sql/parts/slot_of_row.sql
    AS t, '' AS v,
    -- include: aggregator/sql/parts/slot_counts_of_rows.sql
    , false AS x @states_of_rows@
FROM clicks
WHERE true @open@ @once@
GROUP BY t
