SELECT DISTINCT h
FROM (
    SELECT arrayJoin(mapKeys(hours)) AS h
    FROM ingest_progress
    WHERE inserted_at >= fromUnixTimestamp64Milli(
        greatest(toInt64({from:UInt32}) * 1000 - {early:Int64}, {since:Int64}, 0), 'UTC'))
WHERE h >= {from:UInt32} AND h < {to:UInt32}
