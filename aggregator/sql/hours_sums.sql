-- @groups@: SELECT toString(dimension) AS d, toUInt32(hour) AS h, slot AS quarter, value AS v, events AS n, clicks AS c, bots AS b, prefetches AS p FROM stats_hourly
-- @dimensions@: 'city', 'language'
SELECT d, h, quarter, v, sum(n1) AS n, sum(c1) AS c, sum(b1) AS b, sum(p1) AS p
FROM (
    SELECT d, h, quarter, v, n AS n1, c AS c1, b AS b1, p AS p1
    FROM (
        @groups@
    )
    UNION ALL
    SELECT dimension, toUInt32(hour), slot, value, events, clicks, bots, prefetches
    FROM stats_hourly
    WHERE dimension IN (@dimensions@)
      AND NOT rest
      AND
      -- include: aggregator/sql/parts/in_hours_added_to.sql
)
GROUP BY d, h, quarter, v
