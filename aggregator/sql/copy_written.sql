-- @kind@: sealed_day
SELECT count() > 0
FROM settled
WHERE kind = '@kind@'
  AND unit = toDateTime({start:UInt32}, 'UTC')
  AND attempt = {attempt:UInt64}
FORMAT TabSeparated
