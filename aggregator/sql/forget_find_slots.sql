SELECT toUInt32(toStartOfDay(slot)) AS d, count(),
    groupUniqArray(toUInt32(toStartOfHour(slot)))
FROM sealed_slots
WHERE
  -- include: aggregator/sql/parts/slot_is_forgotten.sql
GROUP BY d
HAVING d IN (SELECT toUInt32(unit) FROM settled WHERE kind = 'dropped_day')
ORDER BY d
FORMAT TabSeparated
