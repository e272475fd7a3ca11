-- @count@: 17
(
    SELECT multiIf(
            sum(n) = 0, 0,
            countIf(NOT m) = @count@ AND minIf(n, NOT m) = maxIf(n, NOT m) AND sumIf(n, m) = (
                SELECT sum(length(tags))
                FROM
                -- include: aggregator/sql/parts/rows_of_links.sql
            ),
            minIf(n, NOT m), 18446744073709551615)
    FROM (
        -- include: aggregator/sql/parts/owner_events.sql
    )
)
