SELECT toUnixTimestamp64Milli(max(t)), greatest(toUnixTimestamp64Milli(min(t)), 0),
    toUnixTimestamp64Milli(now64(3, 'UTC'))
FROM (
    SELECT *
    FROM (
        SELECT inserted_at AS t
        FROM ingest_progress
        WHERE
          -- include: aggregator/sql/parts/is_stream.sql
          AND inserted_at <= now64(3, 'UTC')
        ORDER BY inserted_at DESC
        LIMIT 1)
    UNION ALL
    SELECT *
    FROM (
        SELECT inserted_at AS t
        FROM ingest_progress
        WHERE
          -- include: aggregator/sql/parts/is_stream.sql
          AND inserted_at <= now64(3, 'UTC')
        ORDER BY inserted_at
        LIMIT 1))
FORMAT TabSeparated
