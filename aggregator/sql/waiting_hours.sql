WITH touched AS (
    -- include: aggregator/sql/parts/hours_reported_since.sql
),
-- include: aggregator/sql/parts/about_hours.sql
SELECT reported.h, reported.n_blocks, reported.n_rows, done.n_rows, done.n_attempt,
    x.x_attempt, done.n_open, reported.n_at
FROM reported
LEFT JOIN done ON reported.h = done.h
LEFT JOIN held ON reported.h = held.h
LEFT JOIN dropped AS x ON toUInt32(intDiv(reported.h, 86400) * 86400) = x.x_day
WHERE reported.h >= (SELECT toUInt32(max(unit)) FROM settled WHERE kind = 'kept_from')
  AND
  -- include: aggregator/sql/parts/is_changed_hour.sql
  AND
  -- include: aggregator/sql/parts/is_not_held_hour.sql
ORDER BY reported.h
FORMAT TabSeparated
