-- @dimension@: country
-- @value@: toString(country)
SELECT l, a, o, '@dimension@',
    -- include: aggregator/sql/parts/day_at_start.sql
    , {attempt:UInt64}, if(is_rest, '', v) AS shown, is_rest, sum(n), sum(c), sum(b), sum(p)
FROM (
    SELECT *, row_number() OVER (PARTITION BY l, a, o ORDER BY n DESC, v) > 100 AS is_rest
    FROM (
        SELECT link_id AS l, account AS a, owner AS o, @value@ AS v,
            -- include: aggregator/sql/parts/counts_of_rows.sql
        FROM
            -- include: aggregator/sql/parts/rows_of_links.sql
        GROUP BY l, a, o, v
    ))
GROUP BY l, a, o, shown, is_rest
