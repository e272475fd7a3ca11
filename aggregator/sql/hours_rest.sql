SELECT dimension, hour, {attempt:UInt64}, slot, '', true, sum(events), sum(clicks), sum(bots),
    sum(prefetches), uniqCombinedMergeState(14)(people),
    uniqCombinedMergeState(14)(others), uniqCombinedMergeState(14)(people_ips),
    uniqCombinedMergeState(14)(others_ips), false
FROM stats_hourly
WHERE rest
  AND
  -- include: aggregator/sql/parts/in_hours_added_to.sql
GROUP BY dimension, hour, slot
