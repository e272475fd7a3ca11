(
    SELECT sum(events)
    FROM stats_hourly
    WHERE dimension = 'total'
      -- include: aggregator/sql/parts/in_settled_hours.sql
)
