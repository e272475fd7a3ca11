SELECT toUnixTimestamp64Milli(max(t))
FROM (
    SELECT inserted_at AS t
    FROM ingest_progress
    WHERE inserted_at <= now64(3, 'UTC')
    ORDER BY inserted_at DESC
    LIMIT 1)
FORMAT TabSeparated
