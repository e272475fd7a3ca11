SELECT count() + (
        SELECT sum(events)
        FROM stats_hourly
        WHERE dimension = 'total'
          -- include: aggregator/sql/parts/in_base_hours.sql
          ),
    countIf(link_id != 0) + (
        SELECT sum(events)
        -- include: aggregator/sql/parts/base_slots.sql
        ),
    (
        SELECT sum(events)
        FROM stats_hourly
        WHERE dimension = 'total'
          -- include: aggregator/sql/parts/in_settled_hours.sql
          ), countIf(outcome = 'repeated')
FROM (
    -- include: aggregator/sql/parts/rows_beside.sql
)
FORMAT TabSeparated
