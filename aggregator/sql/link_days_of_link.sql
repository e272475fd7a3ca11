SELECT toUInt32(toDateTime(day, 'UTC')), attempt, pv, uv, ip, human_uv, human_ip, effective,
    ineffective
FROM link_days
WHERE link_id = {link_id:UInt64}
  AND day >= toDate(toDateTime({from:UInt32}, 'UTC'))
  AND day < toDate(toDateTime({to:UInt32}, 'UTC'))
