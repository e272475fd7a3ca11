SELECT DISTINCT toUInt32(unit)
FROM settled
WHERE kind = 'dropped_day'
  AND unit >= toDateTime({from:UInt32}, 'UTC') - 86400
  AND unit < toDateTime({to:UInt32}, 'UTC')
