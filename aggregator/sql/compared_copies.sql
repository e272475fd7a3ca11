-- @newest@: n_sealed
-- @day_attempts@: (SELECT 1 AS d, 1 AS n_sealed, 0 AS n_day, 0 AS n_hour)
-- @is_current@: n_sealed > greatest(n_day, n_hour)
SELECT groupArray(toUInt32(d)), groupArray(@newest@)
FROM @day_attempts@
WHERE @is_current@
