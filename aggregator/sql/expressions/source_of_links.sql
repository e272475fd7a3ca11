(
    SELECT count()
    FROM
    -- include: aggregator/sql/parts/rows_of_links.sql
)
