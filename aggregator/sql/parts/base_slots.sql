FROM sealed_slots
WHERE slot >= toDateTime({start:UInt32}, 'UTC')
  AND slot < toDateTime({end:UInt32}, 'UTC')
  AND attempt = (
    SELECT max(attempt)
    FROM settled
    WHERE kind = 'base_sealed' AND unit = toDateTime({start:UInt32}, 'UTC'))
