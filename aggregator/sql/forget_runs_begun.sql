SELECT run, toUInt32(toDateTime(any(day), 'UTC')), any(rows), any(hours), any(host),
    max(at) < now64(3, 'UTC') - toIntervalMillisecond({longest:Int64})
FROM rescored
WHERE state = 'begun'
  AND rules = 0
  AND import = ''
  AND run NOT IN (SELECT run FROM rescored WHERE state = 'done')
GROUP BY run
FORMAT TabSeparated
