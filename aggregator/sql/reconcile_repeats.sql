SELECT toUInt32(intDiv(toUnixTimestamp(ts), 3600) * 3600) AS h,
    count() - uniqExact(event_id)
FROM clicks
WHERE ts >= toDateTime64({from:UInt32}, 3, 'UTC')
  AND ts < toDateTime64({to:UInt32}, 3, 'UTC')
  AND event_id IN (
        SELECT event_id
        FROM clicks
        WHERE ts >= toDateTime64({from:UInt32}, 3, 'UTC')
          AND ts < toDateTime64({to:UInt32}, 3, 'UTC')
          AND maybe_sent)
GROUP BY h
