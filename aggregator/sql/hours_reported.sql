SELECT count()
FROM (
    -- include: aggregator/sql/parts/hours_reported_since.sql
)
FORMAT TabSeparated
