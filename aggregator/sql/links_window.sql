-- @side@: <=
-- @direction@: DESC
SELECT toUnixTimestamp64Milli(created_at)
FROM links
WHERE created_at @side@ fromUnixTimestamp64Milli({number:Int64}, 'UTC')
ORDER BY created_at @direction@
LIMIT 1 OFFSET {candidates:UInt64}
FORMAT TabSeparated
