SELECT count(), toUnixTimestamp64Milli(min(ts))
FROM clicks
WHERE toYYYYMMDD(ts) >= toYYYYMMDD(fromUnixTimestamp64Milli({from:Int64}, 'UTC'))
