SELECT toUInt32(unit) AS h, max(attempt)
FROM settled
WHERE kind = 'hour'
  AND unit >= toDateTime({from:UInt32}, 'UTC')
  AND unit < toDateTime({to:UInt32}, 'UTC')
GROUP BY h
