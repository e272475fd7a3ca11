-- @days@: (SELECT toUInt32(unit) AS d, max(attempt) AS n_day, n_day AS n_hour, n_day AS n_held, n_day AS n_sealed, n_day AS n_dropped FROM settled GROUP BY d)
-- @newest@: n_sealed
-- @can_copy@: n_dropped = 0
-- @whatever_age@: n_dropped > 0 OR
SELECT count(), min(d), argMin(n_dropped, d)
FROM @days@
WHERE n_day > n_hour
  AND n_day > @newest@
  AND n_day > n_held
  AND @can_copy@
  AND toInt64(d) > {after:Int64}
  AND (@whatever_age@ toInt64(d) * 1000 + {age:Int64} <= {now:Int64})
FORMAT TabSeparated
