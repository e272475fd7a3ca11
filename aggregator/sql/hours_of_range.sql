WITH touched AS (
    SELECT DISTINCT h
    FROM (
        SELECT arrayJoin(mapKeys(hours)) AS h
        FROM ingest_progress
        UNION ALL
        SELECT toUInt32(unit) AS h
        FROM settled
        WHERE kind = 'hour'
        UNION ALL
        SELECT DISTINCT toUInt32(intDiv(toUnixTimestamp(ts), 3600) * 3600) AS h
        FROM clicks
        WHERE ts >= toDateTime64({from:UInt32}, 3, 'UTC')
          AND ts < toDateTime64({to:UInt32}, 3, 'UTC'))
    WHERE h >= {from:UInt32} AND h < {to:UInt32}),
-- include: aggregator/sql/parts/about_hours.sql
SELECT t.h, reported.n_blocks, reported.n_rows, done.n_rows, done.n_attempt, x.x_attempt,
    done.n_open, reported.n_at
FROM touched AS t
LEFT JOIN reported ON t.h = reported.h
LEFT JOIN done ON t.h = done.h
LEFT JOIN dropped AS x ON toUInt32(intDiv(t.h, 86400) * 86400) = x.x_day
WHERE t.h >= (SELECT toUInt32(max(unit)) FROM settled WHERE kind = 'kept_from')
ORDER BY t.h
FORMAT TabSeparated
