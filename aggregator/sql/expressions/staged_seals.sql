(
    SELECT sum(events)
    FROM sealed_slots
    WHERE
      -- include: aggregator/sql/parts/slots_in_range.sql
      AND attempt = {attempt:UInt64}
)
