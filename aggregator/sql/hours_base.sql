SELECT dimension, hour, {attempt:UInt64}, slot, value, rest, events, clicks, bots, prefetches,
    people, others, people_ips, others_ips, emptied
FROM stats_hourly
WHERE toUInt32(hour) IN {hours:Array(UInt32)}
  -- include: aggregator/sql/parts/in_base_hours.sql
