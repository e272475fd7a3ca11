-- @unit@: hour
-- @kind@: hour
(@unit@, attempt) IN (
    SELECT unit, max(attempt)
    FROM settled
    WHERE kind = '@kind@'
    GROUP BY unit)
