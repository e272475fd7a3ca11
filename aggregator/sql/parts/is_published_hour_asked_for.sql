hour >= toDateTime({from:UInt32}, 'UTC')
  AND hour < toDateTime({to:UInt32}, 'UTC')
  AND (hour, attempt) IN (
        SELECT unit, max(attempt)
        FROM settled
        WHERE kind = 'hour'
          AND unit >= toDateTime({from:UInt32}, 'UTC')
          AND unit < toDateTime({to:UInt32}, 'UTC')
        GROUP BY unit)
