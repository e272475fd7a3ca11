SELECT count() > 0
FROM settled
WHERE kind = 'link_day'
  AND unit = toDateTime({start:UInt32}, 'UTC')
  AND attempt = {attempt:UInt64}
FORMAT TabSeparated
