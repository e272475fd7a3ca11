INSERT INTO link_days (link_id, day, attempt, pv, uv, ip, human_uv, human_ip, effective,
    ineffective)
SELECT l, toDate(toDateTime({start:UInt32}, 'UTC')), {attempt:UInt64}, sum(n) AS nn,
    uniqExactArray(arrayConcat(hv, ov)), uniqExactArray(arrayConcat(hi, oi)),
    uniqExactArray(hv), uniqExactArray(hi), sum(c) - sum(b) - sum(p) AS e, nn - e
FROM (
    SELECT link_id AS l, slot AS s, events AS n, clicks AS c, bots AS b, prefetches AS p,
        people AS hv, others AS ov, people_ips AS hi, others_ips AS oi
    FROM sealed_slots
    WHERE slot >= toDateTime({start:UInt32}, 'UTC')
      AND slot < toDateTime({end:UInt32}, 'UTC')
      AND attempt = (
            SELECT max(attempt)
            FROM settled
            WHERE kind = 'base_sealed' AND unit = toDateTime({start:UInt32}, 'UTC'))
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
        SELECT clicks.*
        FROM clicks
        LEFT JOIN (
            SELECT epoch AS f_epoch, topic AS f_topic, partition AS f_partition,
                max(last) AS f_last, 1 AS f_known
            FROM dropped_sources
            WHERE day = toDate(toDateTime({start:UInt32}, 'UTC'))
              AND attempt = {dropped:UInt64}
            GROUP BY f_epoch, f_topic, f_partition) AS f
          ON clicks.epoch = f.f_epoch
          AND clicks.topic = f.f_topic
          AND clicks.partition = f.f_partition
        WHERE ts >= toDateTime64({start:UInt32}, 3, 'UTC')
          AND ts < toDateTime64({end:UInt32}, 3, 'UTC')
          AND (f_known = 0 OR clicks.offset > f_last))
    WHERE link_id != 0
    GROUP BY l, s)
GROUP BY l
