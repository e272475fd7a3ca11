-- @dimension@: continent
-- @value@: toString(continent)
SELECT '@dimension@',
    -- include: aggregator/sql/parts/day_at_start.sql
    , {attempt:UInt64}, if(is_rest, '', v) AS shown, is_rest, sum(n), sum(c), sum(b), sum(p)
FROM (
    SELECT *, was_rest OR row_number() OVER (
            PARTITION BY was_rest ORDER BY n DESC, v) > {most:UInt64} AS is_rest
    FROM (
        SELECT v, was_rest, sum(en) AS n, sum(ec) AS c, sum(eb) AS b, sum(ep) AS p
        FROM (
            SELECT v, false AS was_rest, n AS en, c AS ec, b AS eb, p AS ep
            FROM (
                SELECT @value@ AS v,
                    -- include: aggregator/sql/parts/counts_of_rows.sql
                FROM clicks
                WHERE
                    -- include: aggregator/sql/parts/is_in_range.sql
                GROUP BY v))
        GROUP BY v, was_rest))
GROUP BY shown, is_rest
