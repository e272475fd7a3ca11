-- @dimension@: country
-- @value@: toString(country)
-- @base@: base_link_value
SELECT l, a, o, '@dimension@',
    -- include: aggregator/sql/parts/day_at_start.sql
    , {attempt:UInt64}, if(is_rest, '', v) AS shown, is_rest, sum(n), sum(c), sum(b), sum(p)
FROM (
    SELECT *, was_rest OR row_number() OVER (
            PARTITION BY l, a, o, was_rest ORDER BY n DESC, v) > 100 AS is_rest
    FROM (
        SELECT l, a, o, v, was_rest, sum(en) AS n, sum(ec) AS c, sum(eb) AS b, sum(ep) AS p
        FROM (
            SELECT l, a, o, v, was_rest, n AS en, c AS ec, b AS eb, p AS ep
            FROM (
                SELECT link_id AS l, account AS a, owner AS o, @value@ AS v, false AS was_rest,
                    -- include: aggregator/sql/parts/counts_of_rows.sql
                FROM
                    -- include: aggregator/sql/parts/rows_of_links_beside.sql
                GROUP BY l, a, o, v
            )
            UNION ALL
            SELECT link_id AS l, account AS a, owner AS o, value AS v, rest AS was_rest,
                events AS en, clicks AS ec, bots AS eb, prefetches AS ep
            FROM link_values
            WHERE day =
              -- include: aggregator/sql/parts/day_at_start.sql
              AND attempt =
              -- include: aggregator/sql/expressions/attempt_of_base.sql
              AND dimension = '@dimension@')
        GROUP BY l, a, o, v, was_rest))
GROUP BY l, a, o, shown, is_rest
