SELECT toUInt32(toDateTime(day, 'UTC')) AS d, sumIf(pv, part IN ('sole', 'whole')) AS n
FROM link_days
WHERE (toDateTime(day, 'UTC'), attempt) IN (
        SELECT unit, max(attempt)
        FROM settled
        WHERE kind = 'link_day'
        GROUP BY unit)
GROUP BY d
