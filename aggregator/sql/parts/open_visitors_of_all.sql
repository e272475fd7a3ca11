-- @row_values@: [(0, toString(verdict)), (1, toString(country))]
-- @condition@: include aggregator/sql/parts/is_human.sql
-- @open@: AND ts >= toDateTime64(0, 3, 'UTC')
-- @once@: include aggregator/sql/parts/is_counted_once.sql
UNION ALL
SELECT (arrayJoin(@row_values@) AS pair).1 AS d, pair.2 AS v,
    -- include: aggregator/sql/parts/digest_of_owners_visitor.sql
    AS who
FROM clicks
WHERE
    link_id != 0
    AND @condition@ @open@ @once@
    AND
    -- include: aggregator/sql/parts/is_visitor_counted.sql
