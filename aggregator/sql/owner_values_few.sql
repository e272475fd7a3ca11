-- @dimension@: country
-- @value@: toString(country)
-- @most@: 1000
-- @more@: 1001
SELECT o, '@dimension@',
    -- include: aggregator/sql/parts/day_at_start.sql
    , {attempt:UInt64}, one.1, false, one.2, one.3, one.4, one.5
FROM (
    SELECT o, arrayJoin(g) AS one
    FROM (
        SELECT o, groupArray(@more@)((v, n, c, b, p)) AS g
        FROM (
            SELECT owner AS o, @value@ AS v,
                -- include: aggregator/sql/parts/counts_of_rows.sql
            FROM
                -- include: aggregator/sql/parts/rows_of_links.sql
            GROUP BY o, v
        )
        GROUP BY o
        HAVING length(g) <= @most@))
