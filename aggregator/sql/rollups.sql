-- @whole@: verdict
INSERT INTO stats_spans (dimension, span, span_start, attempt, value, rest, events, clicks,
    bots, prefetches, people, others, people_ips, others_ips, emptied)
SELECT dimension, 86400, toDateTime({start:UInt32}, 'UTC'), {attempt:UInt64}, value, rest,
    -- include: aggregator/sql/parts/sums_of_slots.sql
FROM
    -- include: aggregator/sql/parts/rows_to_roll_up.sql
  AND dimension != 'total'
GROUP BY dimension, value, rest
UNION ALL
SELECT 'total', 86400, toDateTime({start:UInt32}, 'UTC'), {attempt:UInt64}, '', false,
    -- include: aggregator/sql/parts/sums_of_slots.sql
FROM
    -- include: aggregator/sql/parts/rows_to_roll_up.sql
  AND dimension = '@whole@'
GROUP BY toStartOfDay(hour)
UNION ALL
SELECT 'total', 3600, hour, {attempt:UInt64}, '', false,
    -- include: aggregator/sql/parts/sums_of_slots.sql
FROM
    -- include: aggregator/sql/parts/rows_to_roll_up.sql
  AND dimension = '@whole@'
GROUP BY hour
