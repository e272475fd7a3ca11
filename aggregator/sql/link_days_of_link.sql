SELECT toUInt32(toDateTime(day, 'UTC')), attempt AS a, sum(pv), sum(uv), sum(ip), sum(human_uv),
    sum(human_ip), sum(effective), sum(ineffective)
FROM link_days
WHERE link_id = {link_id:UInt64}
  AND day >= toDate(toDateTime({from:UInt32}, 'UTC'))
  AND day < toDate(toDateTime({to:UInt32}, 'UTC'))
  AND
  -- include: aggregator/sql/parts/link_day_is_of_caller.sql
GROUP BY day, a
