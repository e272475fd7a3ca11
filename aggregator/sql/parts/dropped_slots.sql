SELECT link_id AS l, slot AS s, events AS n, clicks AS c, bots AS b, prefetches AS p,
    people AS hv, others AS ov, people_ips AS hi, others_ips AS oi
-- include: aggregator/sql/parts/base_slots.sql
UNION ALL
SELECT link_id AS l, toDateTime(intDiv(toUnixTimestamp(ts), 900) * 900, 'UTC') AS s,
    count() AS n, countIf(outcome = 'redirected') AS c,
    countIf(outcome = 'redirected' AND verdict NOT IN ('human', 'prefetch')) AS b,
    countIf(outcome = 'redirected' AND verdict = 'prefetch') AS p,
    groupUniqArrayIf(bitShiftRight(cityHash64(unique_identity), 16),
        outcome = 'redirected' AND verdict = 'human') AS hv,
    groupUniqArrayIf(bitShiftRight(cityHash64(unique_identity), 16),
        outcome = 'redirected' AND verdict != 'human') AS ov,
    groupUniqArrayIf(bitShiftRight(cityHash64(reinterpretAsFixedString(ip)), 16),
        outcome = 'redirected' AND verdict = 'human') AS hi,
    groupUniqArrayIf(bitShiftRight(cityHash64(reinterpretAsFixedString(ip)), 16),
        outcome = 'redirected' AND verdict != 'human') AS oi
FROM (
    -- include: aggregator/sql/parts/rows_beside.sql
)
WHERE link_id != 0
GROUP BY l, s
