SELECT count()
FROM (
    -- include: aggregator/sql/parts/reconciled_days.sql
)
WHERE d = {day:UInt64} AND n_kept = 24 AND n_first >= {by:UInt64}
FORMAT TabSeparated
