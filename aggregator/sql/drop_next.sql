-- @newest@: , argMin(n_sealed, d), argMin(n_owner, d)
-- @day_attempts@: (SELECT 1 AS d, 1 AS n_sealed, 1 AS n_owner, 0 AS n_dropped)
-- @is_copied@: n_sealed > 0
SELECT count(), min(d), argMin(n_dropped, d)@newest@
FROM @day_attempts@
WHERE @is_copied@
  AND n_sealed > n_dropped
  AND toInt64(d) > {after:Int64}
  AND toInt64(d) * 1000 + {age:Int64} <= {old_by:Int64}
FORMAT TabSeparated
