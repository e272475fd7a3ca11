SELECT d, sum(n), groupUniqArrayArray(h)
FROM (
    SELECT toUInt32(toStartOfDay(slot)) AS d, count() AS n,
        groupUniqArray(toUInt32(toStartOfHour(slot))) AS h
    FROM sealed_slots
    WHERE
      -- include: aggregator/sql/parts/slot_is_forgotten.sql
    GROUP BY d
    UNION ALL
    SELECT toUInt32(toDateTime(day, 'UTC')) AS d, toUInt64(0) AS n, [d] AS h
    FROM link_values
    WHERE @is_link@ AND value != ''
    GROUP BY d)
GROUP BY d
HAVING d IN (SELECT toUInt32(unit) FROM settled WHERE kind = 'dropped_day')
ORDER BY d
FORMAT TabSeparated
