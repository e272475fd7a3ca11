SELECT n_start, n_day, n_hours = if(n_day < n_dropped, (0, 0), n_from) AND n_day >= n_latest,
    n_held > n_day AND n_hours = n_held_from
FROM (
    SELECT n_start, n_day, n_from, n_dropped, n_held, n_held_from, n_latest, every,
        (arraySum(one -> if(one.1 >= n_dropped, one.2, 0), every),
            arraySum(one -> if(one.1 >= n_dropped, one.3, 0), every)) AS n_hours
    FROM (
        SELECT toUInt32(intDiv(toUInt32(unit), 86400) * 86400) AS n_start,
            maxIf(n_attempt, kind = 'link_day') AS n_day,
            maxIf((n_blocks, n_rows), kind = 'link_day') AS n_from,
            maxIf(n_attempt, kind = 'dropped_day') AS n_dropped,
            maxIf(n_attempt, kind = 'held_day') AS n_held,
            maxIf((n_blocks, n_rows), kind = 'held_day') AS n_held_from,
            maxIf(n_attempt, kind = 'hour') AS n_latest,
            groupArrayIf((n_attempt, n_blocks, n_rows), kind = 'hour') AS every
        FROM (
            SELECT kind, unit, max(attempt) AS n_attempt, argMax(blocks, attempt) AS n_blocks,
                argMax(rows, attempt) AS n_rows
            FROM settled
            WHERE kind IN ('hour', 'link_day', 'dropped_day', 'held_day')
              AND unit >= toDateTime({from:UInt32}, 'UTC')
              AND unit < toDateTime({to:UInt32}, 'UTC')
            GROUP BY kind, unit)
        GROUP BY n_start))
WHERE (n_day > 0 OR notEmpty(every))
  AND (n_dropped > 0 OR n_from.2 > 0 OR arrayExists(one -> one.3 > 0, every))
ORDER BY n_start
FORMAT TabSeparated
