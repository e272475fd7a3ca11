(
    SELECT sum(events)
    FROM stats_hourly
    WHERE dimension = 'total'
      -- include: aggregator/sql/parts/in_base_hours.sql
)
