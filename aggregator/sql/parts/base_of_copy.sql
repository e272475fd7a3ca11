-- @base@: base_sealed
-- @newest@: n_sealed
-- @day_attempts@: (SELECT 1 AS d, 1 AS n_sealed)
-- @is_current@: n_sealed > 0
UNION ALL
SELECT '@base@' AS k, toDateTime(d, 'UTC') AS u, @newest@ AS a, toUInt64(0) AS m
FROM @day_attempts@
WHERE d = {start:UInt32} AND @is_current@
