-- @read@: , (n_sealed > greatest(n_day, n_hour)) AS is_read_0, n_sealed
-- @days@: (SELECT 0 AS d, 0 AS n_linked, 0 AS n_dropped, 0 AS n_day, 0 AS n_hour, 0 AS n_sealed)
-- @or_read@: OR is_read_0
SELECT d, n_linked, n_dropped @read@
FROM @days@
WHERE (n_dropped > 0 @or_read@)
  AND toDateTime(d, 'UTC') >= (SELECT max(unit) FROM settled WHERE kind = 'kept_from')
ORDER BY d
FORMAT TabSeparated
