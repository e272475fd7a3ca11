SELECT count() > 0
FROM settled
WHERE kind = 'sealed_day'
  AND unit = toDateTime({start:UInt32}, 'UTC')
  AND attempt = {sealed:UInt64}
  AND settled_at <= now64(3, 'UTC') - toIntervalMillisecond({grace:Int64})
FORMAT TabSeparated
