-- @groups@: SELECT toString(dimension) AS d, toUInt32(hour) AS h, slot AS quarter, value AS v, events AS n, clicks AS c, bots AS b, prefetches AS p, visitors AS s0, ips AS s1, human_visitors AS s2, human_ips AS s3 FROM stats_hourly
-- @dimensions@: 'total', 'country'
SELECT d, h, quarter, v, sum(n1) AS n, sum(c1) AS c, sum(b1) AS b, sum(p1) AS p,
    uniqCombined64MergeState(14)(t0) AS s0, uniqCombined64MergeState(14)(t1) AS s1,
    uniqCombined64MergeState(14)(t2) AS s2, uniqCombined64MergeState(14)(t3) AS s3
FROM (
    SELECT d, h, quarter, v, n AS n1, c AS c1, b AS b1, p AS p1,
        s0 AS t0, s1 AS t1, s2 AS t2, s3 AS t3
    FROM (
        @groups@
    )
    UNION ALL
    SELECT dimension, toUInt32(hour), slot, value, events, clicks, bots, prefetches,
        visitors, ips, human_visitors, human_ips
    FROM stats_hourly
    WHERE dimension IN (@dimensions@)
      AND NOT rest
      AND
      -- include: aggregator/sql/parts/in_hours_added_to.sql
)
GROUP BY d, h, quarter, v
