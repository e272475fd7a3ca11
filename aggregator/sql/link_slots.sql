INSERT INTO link_slots (link_id, slot, attempt, clicks, bots, prefetches, effective,
    ineffective)
SELECT link_id, toDateTime(intDiv(toUnixTimestamp(ts), 900) * 900, 'UTC') AS quarter,
    {attempt:UInt64}, countIf(outcome = 'redirected'),
    countIf(outcome = 'redirected' AND verdict NOT IN ('human', 'prefetch')),
    countIf(outcome = 'redirected' AND verdict = 'prefetch'),
    countIf(outcome = 'redirected' AND verdict = 'human') AS e, count() - e
FROM clicks
WHERE link_id != 0
  AND ts >= toDateTime64({start:UInt32}, 3, 'UTC')
  AND ts < toDateTime64({end:UInt32}, 3, 'UTC')
GROUP BY link_id, quarter
