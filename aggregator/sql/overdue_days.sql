SELECT countIf(since <= now64(3, 'UTC') - toIntervalMillisecond({longest:Int64}))
FROM (
    SELECT intDiv(toUInt32(unit), 86400) * 86400 AS d,
        maxIf(attempt, kind = 'link_day') AS n_day,
        arrayMin(
            arrayMap(h -> if(h.1 > n_day, h.2, now64(3, 'UTC')),
                groupArrayIf((attempt, settled_at), kind = 'hour'))) AS since
    FROM settled
    WHERE kind IN ('hour', 'link_day')
    GROUP BY d
    HAVING has({days:Array(UInt32)}, d))
FORMAT TabSeparated
