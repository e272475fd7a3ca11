-- @dimension@: country
-- @value@: toString(country)
SELECT a, o, '@dimension@',
    -- include: aggregator/sql/parts/day_at_start.sql
    , {attempt:UInt64}, if(is_rest, '', v) AS shown, is_rest, sum(n), sum(c), sum(b), sum(p)
FROM (
    SELECT *, was_rest OR row_number() OVER (
            PARTITION BY a, o, was_rest ORDER BY n DESC, v) > {most:UInt64} AS is_rest
    FROM (
        SELECT account AS a, owner AS o, @value@ AS v, false AS was_rest,
            -- include: aggregator/sql/parts/counts_of_rows.sql
        FROM
            -- include: aggregator/sql/parts/rows_of_links.sql
          AND (account, owner) NOT IN (
                SELECT account, owner
                FROM
                -- include: aggregator/sql/parts/staged_owner_values.sql
                  AND dimension = '@dimension@')
        GROUP BY a, o, v
    ))
GROUP BY a, o, shown, is_rest
