FROM sealed_slots
WHERE
  -- include: aggregator/sql/parts/slots_in_range.sql
  AND attempt = (
    SELECT max(attempt)
    FROM settled
    WHERE kind = 'base_sealed' AND unit = toDateTime({start:UInt32}, 'UTC'))
