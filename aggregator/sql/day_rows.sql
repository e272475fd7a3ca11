SELECT count(), countIf(link_id != 0),
    (
        SELECT sum(events)
        FROM stats_hourly
        WHERE dimension = 'total'
          -- include: aggregator/sql/parts/in_settled_hours.sql
          ), countIf(outcome = 'repeated')
FROM clicks
WHERE ts >= toDateTime64({start:UInt32}, 3, 'UTC')
  AND ts < toDateTime64({end:UInt32}, 3, 'UTC')
FORMAT TabSeparated
