FROM stats_hourly
WHERE dimension = 'total'
  AND (hour, attempt) IN (
        SELECT unit, max(attempt)
        FROM settled
        WHERE kind = 'hour'
        GROUP BY unit)
GROUP BY d
