(
    SELECT count()
    FROM (
        -- include: aggregator/sql/parts/rows_beside.sql
    )
) +
-- include: aggregator/sql/expressions/base_events.sql
