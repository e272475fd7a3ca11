SELECT NOT (
    -- include: aggregator/sql/parts/is_not_dropped_since.sql
)
FORMAT TabSeparated
