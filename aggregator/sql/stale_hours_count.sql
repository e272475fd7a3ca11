WITH touched AS (
    SELECT DISTINCT h
    FROM (SELECT arrayJoin(mapKeys(hours)) AS h FROM ingest_progress)
    WHERE h >= {from:UInt32} AND h < {to:UInt32}),
-- include: aggregator/sql/parts/about_hours.sql
SELECT count()
FROM reported
LEFT JOIN done ON reported.h = done.h
WHERE
  -- include: aggregator/sql/parts/is_stale_hour.sql
FORMAT TabSeparated
