SELECT toUInt32(unit), max(attempt) AS newest
FROM settled
WHERE kind = 'dropped_day'
  AND toYYYYMMDD(unit) IN (
        SELECT toUInt32OrZero(partition_id)
        FROM system.parts
        WHERE database = currentDatabase() AND table = 'clicks' AND active AND rows > 0)
  AND unit >= (SELECT max(unit) FROM settled WHERE kind = 'kept_from')
GROUP BY unit
HAVING (newest < {before:UInt64}
    OR max(settled_at) <= fromUnixTimestamp64Milli({kept:Int64}, 'UTC'))
ORDER BY unit
FORMAT TabSeparated
