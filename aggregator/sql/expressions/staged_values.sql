-- @count@: 13
(
    SELECT multiIf(
            sum(n) = 0, 0,
            countIf(NOT is_of_owners) = @count@
                AND minIf(n, NOT is_of_owners) = maxIf(n, NOT is_of_owners)
                AND minIf(n, is_of_owners) = maxIf(n, is_of_owners)
                AND sumIf(n, is_of_owners) = @count@ *
                -- include: aggregator/sql/expressions/settled_of_links.sql
            , minIf(n, NOT is_of_owners), 18446744073709551615)
    FROM (
        SELECT sum(events) AS n, true AS is_of_owners
        FROM
        -- include: aggregator/sql/parts/staged_owner_values.sql
        GROUP BY dimension
        UNION ALL
        SELECT sum(events) AS n, false AS is_of_owners
        FROM day_values
        WHERE day =
          -- include: aggregator/sql/parts/day_at_start.sql
          AND attempt = {attempt:UInt64}
        GROUP BY dimension)
)
