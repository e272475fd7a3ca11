(
    -- include: aggregator/sql/parts/rows_beside.sql
)
WHERE link_id != 0
