-- @row_values@: [(0, toString(verdict)), (1, toString(country))]
-- @condition@: include aggregator/sql/parts/is_human.sql
-- @owners@: AND account = 'acme'
-- @open@: AND ts >= toDateTime64(0, 3, 'UTC')
-- @once@: include aggregator/sql/parts/is_counted_once.sql
UNION ALL
SELECT (arrayJoin(@row_values@) AS pair).1 AS d, pair.2 AS v,
    -- include: aggregator/sql/parts/digest_of_owners_visitor.sql
    AS who
FROM clicks
WHERE bitAnd(cityHash64(unique_identity), {mask:UInt64}) = 0
  AND unique_identity != toFixedString('', 20)
  AND @condition@
  AND link_id != 0
  @owners@
  @open@ @once@
