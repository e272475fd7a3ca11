SELECT
    -- include: aggregator/sql/parts/progress_columns.sql
    , sumIf(cityHash64(kind, unit, attempt), kind != 'pass')
FROM settled
FORMAT TabSeparated
