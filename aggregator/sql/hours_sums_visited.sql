-- @groups@: SELECT toString(dimension) AS d, toUInt32(hour) AS h, slot AS quarter, value AS v, events AS n, clicks AS c, bots AS b, prefetches AS p, people AS s0, others AS s1, people_ips AS s2, others_ips AS s3 FROM stats_hourly
-- @dimensions@: 'total', 'country'
SELECT d, h, quarter, v, sum(n1) AS n, sum(c1) AS c, sum(b1) AS b, sum(p1) AS p,
    uniqCombinedMergeState(14)(t0) AS s0, uniqCombinedMergeState(14)(t1) AS s1,
    uniqCombinedMergeState(14)(t2) AS s2, uniqCombinedMergeState(14)(t3) AS s3
FROM (
    SELECT d, h, quarter, v, n AS n1, c AS c1, b AS b1, p AS p1,
        s0 AS t0, s1 AS t1, s2 AS t2, s3 AS t3
    FROM (
        @groups@
    )
    UNION ALL
    SELECT dimension, toUInt32(hour), slot, value, events, clicks, bots, prefetches,
        people, others, people_ips, others_ips
    FROM stats_hourly
    WHERE dimension IN (@dimensions@)
      AND NOT rest
      AND
      -- include: aggregator/sql/parts/in_hours_added_to.sql
)
GROUP BY d, h, quarter, v
