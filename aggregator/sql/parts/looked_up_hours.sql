-- @open_hours@: AND hour >= toDateTime(0, 'UTC')
hour >= toStartOfHour(toDateTime({from:UInt32}, 'UTC'))
  AND hour < toDateTime({to:UInt32}, 'UTC')
  AND slot >= toDateTime({from:UInt32}, 'UTC')
  AND slot < toDateTime({to:UInt32}, 'UTC')
  AND (hour, attempt) IN (
        SELECT unit, max(attempt)
        FROM settled
        WHERE kind = 'hour'
          AND attempt <= {attempt:UInt64}
          AND unit >= toStartOfHour(toDateTime({from:UInt32}, 'UTC'))
          AND unit < toDateTime({to:UInt32}, 'UTC')
        GROUP BY unit)
  @open_hours@
