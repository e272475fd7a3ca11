-- @open@: AND ts >= toDateTime64(0, 3, 'UTC')
-- @once@: include aggregator/sql/parts/is_counted_once.sql
-- @condition@: include aggregator/sql/parts/is_human.sql
UNION ALL
SELECT
    -- include: aggregator/sql/parts/slot_of_row.sql
    AS s,
    -- include: aggregator/sql/parts/slot_counts_of_rows.sql
    , groupUniqArrayIf(
        -- include: aggregator/sql/parts/digest_of_visitor.sql
        , @condition@) AS v,
    groupUniqArrayIf(
        -- include: aggregator/sql/parts/digest_of_address.sql
        , @condition@) AS i
FROM clicks
WHERE link_id = {link_id:UInt64} @open@ @once@
  AND
  -- include: aggregator/sql/parts/is_of_caller.sql
GROUP BY s
