SELECT countIf(hourly), countIf(NOT hourly), toUnixTimestamp(min(u))
FROM (
    SELECT unit AS u, kind IN ('hour', 'held_hour') AS hourly,
        argMaxIf((blocks, rows), attempt, kind IN ('held_hour', 'held_day')) AS held_at,
        maxIf(attempt, kind IN ('held_hour', 'held_day')) AS held_by,
        argMaxIf((blocks, rows), attempt, NOT kind IN ('held_hour', 'held_day')) AS done_at,
        maxIf(attempt, NOT kind IN ('held_hour', 'held_day')) AS done_by
    FROM settled
    WHERE kind IN ('hour', 'held_hour', 'link_day', 'held_day')
    GROUP BY unit, hourly)
WHERE held_by > done_by AND held_at != done_at
FORMAT TabSeparated
