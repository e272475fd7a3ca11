link_days
WHERE
  -- include: aggregator/sql/parts/link_day_is_of_caller.sql
  AND day >= toDate({since:UInt16})
  AND day < toDate({until:UInt16})
  AND (toDateTime(day, 'UTC'), attempt) IN (
        SELECT unit, max(attempt)
        FROM settled
        WHERE kind = 'link_day'
          AND unit >= toDateTime(toDate({since:UInt16}), 'UTC')
          AND unit < toDateTime(toDate({until:UInt16}), 'UTC')
        GROUP BY unit)
