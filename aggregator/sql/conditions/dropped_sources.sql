-- @before@: 1
attempt < @before@
AND (toDateTime(day, 'UTC'), attempt) NOT IN (
    SELECT unit, max(attempt)
    FROM settled
    WHERE kind = 'dropped_day'
    GROUP BY unit)
