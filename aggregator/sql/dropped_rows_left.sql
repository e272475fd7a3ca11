SELECT count()
FROM (
    SELECT 1
    FROM (
        -- include: aggregator/sql/parts/rows_within.sql
    ) LIMIT 1)
FORMAT TabSeparated
