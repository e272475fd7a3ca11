SELECT toUnixTimestamp64Milli(max(settled_at)), count()
FROM settled
WHERE settled_at <= now64(3, 'UTC')
FORMAT TabSeparated
