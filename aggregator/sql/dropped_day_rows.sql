SELECT count() +
    -- include: aggregator/sql/expressions/base_events.sql
    ,
    countIf(link_id != 0) + (
        SELECT sum(events)
        -- include: aggregator/sql/parts/base_slots.sql
        ),
    -- include: aggregator/sql/expressions/settled_of_hours.sql
    , countIf(outcome = 'repeated')
FROM (
    -- include: aggregator/sql/parts/rows_beside.sql
)
FORMAT TabSeparated
