-- @day_attempts@: (SELECT 1 AS d, 0 AS n_day, 0 AS n_hour, 0 AS n_dropped, 0 AS n_based)
-- @can_copy@: (n_dropped = 0 OR n_based > 0)
SELECT count()
FROM @day_attempts@
WHERE n_day > 0 AND n_hour > n_day AND @can_copy@ AND toInt64(d) * 1000 <= {closed:Int64}
FORMAT TabSeparated
