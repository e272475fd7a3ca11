SELECT toUInt32(unit) AS d, max(attempt)
FROM settled
WHERE kind = 'sealed_day'
  AND unit >= toDateTime({from:UInt32}, 'UTC') - 86400
  AND unit < toDateTime({to:UInt32}, 'UTC')
GROUP BY d
