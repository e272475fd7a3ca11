-- @days@: (SELECT toUInt32(unit) AS d, max(attempt) AS n_day, n_day AS n_hour, n_day AS n_sealed FROM settled GROUP BY d)
-- @marker@: sealing
-- @base@: base_sealed
-- @newest@: n_sealed
-- @is_read@: n_sealed > greatest(n_day, n_hour)
-- @before@: 1
SELECT toYYYYMM(unit), toUInt32(unit), attempt
FROM settled
WHERE kind = '@marker@'
  AND attempt < @before@
  AND (unit, attempt) NOT IN (
        SELECT toDateTime(d, 'UTC'), @newest@
        FROM @days@
        WHERE @is_read@)
  AND (unit, attempt) NOT IN (
        SELECT unit, max(attempt)
        FROM settled
        WHERE kind = '@base@'
        GROUP BY unit)
FORMAT TabSeparated
