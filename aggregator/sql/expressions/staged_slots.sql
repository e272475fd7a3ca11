-- @table@: sealed_slots
(
    SELECT sum(events)
    FROM @table@
    WHERE
      -- include: aggregator/sql/parts/slots_in_range.sql
      AND attempt = {attempt:UInt64}
)
