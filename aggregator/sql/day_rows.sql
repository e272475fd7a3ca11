SELECT count(), countIf(link_id != 0),
    (
        SELECT sum(events)
        FROM stats_hourly
        WHERE dimension = 'total'
          AND hour >= toDateTime({start:UInt32}, 'UTC')
          AND hour < toDateTime({end:UInt32}, 'UTC')
          AND (hour, attempt) IN (
                SELECT unit, max(attempt)
                FROM settled
                WHERE kind = 'hour'
                  AND unit >= toDateTime({start:UInt32}, 'UTC')
                  AND unit < toDateTime({end:UInt32}, 'UTC')
                GROUP BY unit)), countIf(outcome = 'repeated')
FROM clicks
WHERE ts >= toDateTime64({start:UInt32}, 3, 'UTC')
  AND ts < toDateTime64({end:UInt32}, 3, 'UTC')
FORMAT TabSeparated
