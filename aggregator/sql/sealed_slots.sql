INSERT INTO sealed_slots (link_id, slot, attempt, events, clicks, bots, prefetches, people,
    others, people_ips, others_ips)
SELECT link_id, toDateTime(intDiv(toUnixTimestamp(ts), 900) * 900, 'UTC') AS quarter,
    {attempt:UInt64}, count(), countIf(outcome = 'redirected'),
    countIf(outcome = 'redirected' AND verdict NOT IN ('human', 'prefetch')),
    countIf(outcome = 'redirected' AND verdict = 'prefetch'),
    arraySort(groupUniqArrayIf(bitShiftRight(cityHash64(unique_identity), 16),
        outcome = 'redirected' AND verdict = 'human')),
    arraySort(groupUniqArrayIf(bitShiftRight(cityHash64(unique_identity), 16),
        outcome = 'redirected' AND verdict != 'human')),
    arraySort(groupUniqArrayIf(bitShiftRight(cityHash64(reinterpretAsFixedString(ip)), 16),
        outcome = 'redirected' AND verdict = 'human')),
    arraySort(groupUniqArrayIf(bitShiftRight(cityHash64(reinterpretAsFixedString(ip)), 16),
        outcome = 'redirected' AND verdict != 'human'))
FROM clicks
WHERE link_id != 0
  AND ts >= toDateTime64({start:UInt32}, 3, 'UTC')
  AND ts < toDateTime64({end:UInt32}, 3, 'UTC')
GROUP BY link_id, quarter
