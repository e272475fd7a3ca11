-- include: aggregator/sql/parts/slots_in_range.sql
  AND attempt = (
    SELECT max(attempt)
    FROM settled
    WHERE kind = 'base_sample' AND unit = toDateTime({start:UInt32}, 'UTC'))
