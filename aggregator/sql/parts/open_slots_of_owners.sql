-- @open@: AND ts >= toDateTime64(0, 3, 'UTC')
-- @once@: include aggregator/sql/parts/is_counted_once.sql
-- @condition@: include aggregator/sql/parts/is_human.sql
UNION ALL
SELECT
    -- include: aggregator/sql/parts/slot_of_row.sql
    AS s,
    -- include: aggregator/sql/parts/slot_counts_of_rows.sql
    , groupUniqArrayIf(toUInt32(bitShiftRight(cityHash64(unique_identity), 32)), @condition@)
        AS v,
    groupUniqArrayIf(
        toUInt32(bitShiftRight(cityHash64(reinterpretAsFixedString(ip)), 32)), @condition@) AS i
FROM clicks
WHERE
    -- include: aggregator/sql/parts/is_of_owners.sql
    @open@ @once@
GROUP BY s
