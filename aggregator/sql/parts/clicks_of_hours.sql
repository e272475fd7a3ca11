-- @of_hours@: AND toUInt64OrZero(value) IN (SELECT link_id FROM links)
SELECT toUInt64OrZero(value), toUInt64(clicks - bots - prefetches)
FROM stats_hourly
WHERE dimension = 'link'
  AND NOT rest
  AND hour >= toDateTime({until:UInt32} * 86400, 'UTC')
  AND hour < toDateTime({until_hour:UInt32} * 3600, 'UTC')
  AND (hour, attempt) IN (
        SELECT unit, max(attempt)
        FROM settled
        WHERE kind = 'hour'
          AND unit >= toDateTime({until:UInt32} * 86400, 'UTC')
          AND unit < toDateTime({until_hour:UInt32} * 3600, 'UTC')
        GROUP BY unit)
  @of_hours@
