-- @groups@: SELECT toString(dimension) AS d, toUInt32(hour) AS h, slot AS quarter, value AS v, events AS n, clicks AS c, bots AS b, prefetches AS p, people AS s0, others AS s1, people_ips AS s2, others_ips AS s3 FROM stats_hourly
SELECT d, toDateTime(h, 'UTC'), {attempt:UInt64}, quarter, v, false, n, c, b, p,
    s0, s1, s2, s3, false
FROM (
    @groups@
)
