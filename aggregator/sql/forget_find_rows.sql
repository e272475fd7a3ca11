SELECT toUInt32(toStartOfDay(ts)) AS d, count(),
    groupUniqArray(toUInt32(toStartOfHour(ts)))
FROM clicks
WHERE
  -- include: aggregator/sql/parts/row_is_forgotten.sql
GROUP BY d
ORDER BY d
FORMAT TabSeparated
