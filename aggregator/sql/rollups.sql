INSERT INTO stats_spans (dimension, span, span_start, attempt, value, rest, events, clicks,
    bots, prefetches, people, others, people_ips, others_ips, emptied)
SELECT dimension, 86400, toDateTime({start:UInt32}, 'UTC'), {attempt:UInt64}, value, rest,
    -- include: aggregator/sql/parts/sums_of_slots.sql
FROM
    -- include: aggregator/sql/parts/rows_to_roll_up.sql
GROUP BY dimension, value, rest
UNION ALL
SELECT dimension, 3600, hour, {attempt:UInt64}, value, rest,
    -- include: aggregator/sql/parts/sums_of_slots.sql
FROM
    -- include: aggregator/sql/parts/rows_to_roll_up.sql
  AND dimension = 'total'
GROUP BY dimension, hour, value, rest
