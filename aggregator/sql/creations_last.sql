-- The greatest attempt, and when the last pass began.
SELECT max(attempt), toUnixTimestamp64Milli(maxIf(read_at, hour = toDateTime(0, 'UTC')))
FROM settled_creations
FORMAT TabSeparated
