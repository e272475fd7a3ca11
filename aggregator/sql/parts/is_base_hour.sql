(hour, attempt) IN (
    SELECT unit, max(attempt)
    FROM settled
    WHERE kind = 'base_hour'
      AND unit >= toDateTime({start:UInt32}, 'UTC')
      AND unit < toDateTime({end:UInt32}, 'UTC')
    GROUP BY unit)
