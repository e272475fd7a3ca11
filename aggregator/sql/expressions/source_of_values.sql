(
    SELECT count()
    FROM clicks
    WHERE
    -- include: aggregator/sql/parts/is_in_range.sql
)
