-- @before@: 1
attempt < @before@
AND (hour, attempt) NOT IN (
    SELECT hour, max(attempt)
    FROM settled_creations
    GROUP BY hour)
