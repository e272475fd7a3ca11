-- @visitors@: (0, toFixedString(unhex('00'), 20))
SELECT
    arrayMap(unique_identity ->
        -- include: aggregator/sql/parts/digest_of_visitor.sql
        , [v])[1],
    arrayMap(unique_identity ->
        -- include: aggregator/sql/parts/digest_of_owners_visitor.sql
        , [v])[1]
FROM (
    SELECT tupleElement(e, 1) AS n, tupleElement(e, 2) AS v
    FROM (SELECT arrayJoin([@visitors@]) AS e))
ORDER BY n
FORMAT TabSeparated
