SELECT
    -- include: aggregator/sql/parts/progress_columns.sql
    , sum(cityHash64(kind, unit, attempt))
FROM settled
FORMAT TabSeparated
