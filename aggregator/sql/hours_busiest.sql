-- @groups@: SELECT toString(dimension) AS d, toUInt32(hour) AS h, slot AS quarter, value AS v, events AS n, clicks AS c, bots AS b, prefetches AS p FROM stats_hourly
SELECT d, toDateTime(h, 'UTC'), {attempt:UInt64}, quarter, if(is_rest, '', v) AS shown,
    place > {most:UInt64} AS is_rest, sum(n), sum(c), sum(b), sum(p),
    -- include: aggregator/sql/parts/hour_no_states.sql
    , false
FROM (
    SELECT *, dense_rank() OVER (PARTITION BY h, d ORDER BY hour_n DESC, v) AS place
    FROM (
        SELECT *, sum(n) OVER (PARTITION BY h, d, v) AS hour_n
        FROM (
            @groups@
        )))
GROUP BY h, d, quarter, shown, is_rest
