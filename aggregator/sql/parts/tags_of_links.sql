(
    SELECT sum(length(tags))
    FROM
    -- include: aggregator/sql/parts/rows_of_links.sql
)
