INSERT INTO link_days (link_id, day, attempt, pv, uv, ip, human_uv, human_ip, effective,
    ineffective)
SELECT link_id, toDate(toDateTime({start:UInt32}, 'UTC')), {attempt:UInt64}, count() AS n,
    uniqExactIf(unique_identity, outcome = 'redirected'),
    uniqExactIf(clicks.ip, outcome = 'redirected'),
    uniqExactIf(unique_identity, outcome = 'redirected' AND verdict = 'human'),
    uniqExactIf(clicks.ip, outcome = 'redirected' AND verdict = 'human'),
    countIf(outcome = 'redirected' AND verdict = 'human') AS e, n - e
FROM clicks
WHERE link_id != 0
  AND ts >= toDateTime64({start:UInt32}, 3, 'UTC')
  AND ts < toDateTime64({end:UInt32}, 3, 'UTC')
GROUP BY link_id
