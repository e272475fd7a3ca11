SELECT dimension, hour, {attempt:UInt64}, slot, '', true, sum(events), sum(clicks), sum(bots),
    sum(prefetches), uniqCombined64MergeState(14)(visitors),
    uniqCombined64MergeState(14)(ips), uniqCombined64MergeState(14)(human_visitors),
    uniqCombined64MergeState(14)(human_ips), false
FROM stats_hourly
WHERE rest
  AND
  -- include: aggregator/sql/parts/in_hours_added_to.sql
GROUP BY dimension, hour, slot
