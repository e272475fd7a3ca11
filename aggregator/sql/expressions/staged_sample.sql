(
    SELECT sum(events)
    FROM sampled_clicks
    WHERE
      -- include: aggregator/sql/parts/slots_in_range.sql
      AND attempt = {attempt:UInt64}
)
