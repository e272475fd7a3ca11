(
    SELECT countIf(link_id != 0)
    FROM (
        -- include: aggregator/sql/parts/rows_beside.sql
    )
) + (
    SELECT sum(events)
    -- include: aggregator/sql/parts/base_slots.sql
)
