-- @of_hours@: AND toUInt64OrZero(value) IN (SELECT link_id FROM links)
SELECT toUInt64OrZero(value), toUInt64(clicks - bots - prefetches), bots, prefetches
FROM stats_hourly
WHERE dimension = 'link'
  AND NOT rest
  AND ((slot >= toDateTime({head_from:UInt32}, 'UTC')
            AND slot < toDateTime({head_to:UInt32}, 'UTC'))
        OR (slot >= toDateTime({tail_from:UInt32}, 'UTC')
            AND slot < toDateTime({tail_to:UInt32}, 'UTC')))
  AND (
    -- include: aggregator/sql/parts/hour_is_counted.sql
  )
  AND (hour, attempt) IN (
        SELECT unit, max(attempt)
        FROM settled
        WHERE kind = 'hour'
          AND (
            -- include: aggregator/sql/parts/unit_is_counted.sql
          )
        GROUP BY unit)
  @of_hours@
