SELECT count(), min(u)
FROM (
    SELECT toUInt64(toUInt32(unit)) AS u, max(attempt) AS sealed
    FROM settled
    WHERE kind = 'sealed_day'
    GROUP BY unit) AS s
LEFT JOIN (
    -- include: aggregator/sql/parts/reconciled_days.sql
) AS r ON s.u = r.d
WHERE (r.n_kept < 24 OR r.n_first < s.sealed)
  AND s.u NOT IN (
        SELECT toUInt64(toUInt32(unit))
        FROM settled
        WHERE kind = 'dropped_day')
FORMAT TabSeparated
