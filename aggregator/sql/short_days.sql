SELECT toUInt32(toStartOfDay(h)) AS d, sum(n_reported), sum(n_reported - n_counted)
FROM (
    SELECT unit AS h, argMax(rows, attempt) AS n_reported, max(attempt) AS newest,
        argMax(settler, attempt) AS settled_by
    FROM settled
    WHERE kind = 'hour'
      AND unit >= (SELECT max(unit) FROM settled WHERE kind = 'kept_from')
      AND toStartOfDay(unit) NOT IN (SELECT unit FROM settled WHERE kind = 'dropped_day')
    GROUP BY h
    HAVING NOT endsWith(settled_by, ':settle')) AS p
INNER JOIN (
    SELECT hour AS e_hour, attempt AS e_attempt, sum(events) AS n_counted
    FROM stats_hourly
    WHERE dimension = 'total'
    GROUP BY e_hour, e_attempt) AS e
  ON p.h = e.e_hour AND p.newest = e.e_attempt
WHERE n_reported > n_counted
GROUP BY d
ORDER BY d
FORMAT TabSeparated
