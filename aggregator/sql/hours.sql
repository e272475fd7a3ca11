-- @groups@: SELECT toString(dimension) AS d, toUInt32(hour) AS h, slot AS quarter, value AS v, events AS n, clicks AS c, bots AS b, prefetches AS p, visitors AS s0, ips AS s1, human_visitors AS s2, human_ips AS s3 FROM stats_hourly
INSERT INTO stats_hourly (dimension, hour, attempt, slot, value, rest, events, clicks, bots,
    prefetches, visitors, ips, human_visitors, human_ips, emptied)
SELECT d, toDateTime(h, 'UTC'), {attempt:UInt64}, quarter, v, false, n, c, b, p,
    s0, s1, s2, s3, false
FROM (
    @groups@
)
