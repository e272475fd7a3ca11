-- @count@: 17
-- @many@: tag
-- @tags@: (SELECT sum(length(tags)) FROM clicks)
(
    SELECT multiIf(
            sum(n) = 0, 0,
            countIf(NOT m) = @count@ AND minIf(n, NOT m) = maxIf(n, NOT m)
                AND sumIf(n, m) = @tags@,
            minIf(n, NOT m), 18446744073709551615)
    FROM (
        SELECT sum(events) AS n, dimension = '@many@' AS m
        FROM
            -- include: aggregator/sql/parts/staged_link_values.sql
        GROUP BY dimension)
)
