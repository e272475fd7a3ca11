-- @dimension@: country
-- @value@: toString(country)
-- @most@: 1000
-- @more@: 1001
SELECT a, o, '@dimension@',
    -- include: aggregator/sql/parts/day_at_start.sql
    , {attempt:UInt64}, one.1, false, one.2, one.3, one.4, one.5
FROM (
    SELECT a, o, arrayJoin(g) AS one
    FROM (
        SELECT a, o, groupArray(@more@)((v, n, c, b, p)) AS g
        FROM (
            SELECT account AS a, owner AS o, @value@ AS v,
                -- include: aggregator/sql/parts/counts_of_rows.sql
            FROM
                -- include: aggregator/sql/parts/rows_of_links.sql
            GROUP BY a, o, v
        )
        GROUP BY a, o
        HAVING length(g) <= @most@))
