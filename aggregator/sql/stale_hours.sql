WITH touched AS (
    SELECT DISTINCT arrayJoin(mapKeys(hours)) AS h
    FROM ingest_progress
    WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    UNION DISTINCT
    SELECT toUInt32(unit)
    FROM settled
    WHERE kind = 'hour' AND unit >= now() - 86400
    GROUP BY unit
    HAVING argMax(provisional, attempt)),
-- include: aggregator/sql/parts/about_hours.sql
SELECT reported.h, reported.n_blocks, reported.n_rows, done.n_rows, done.n_attempt,
    x.x_attempt, done.n_open, reported.n_at
FROM reported
LEFT JOIN done ON reported.h = done.h
LEFT JOIN held ON reported.h = held.h
LEFT JOIN dropped AS x ON toUInt32(intDiv(reported.h, 86400) * 86400) = x.x_day
WHERE
  -- include: aggregator/sql/parts/is_stale_hour.sql
  AND ({held:UInt8}
    OR
    -- include: aggregator/sql/parts/is_not_held_hour.sql
    )
ORDER BY reported.h
FORMAT TabSeparated
