-- @many@: tag
SELECT sum(events) AS n, false AS m
FROM owner_slots
WHERE
  -- include: aggregator/sql/parts/slots_in_range.sql
  AND attempt = {attempt:UInt64}
UNION ALL
SELECT sum(events) AS n, dimension IN ('', '@many@') AS m
FROM
    -- include: aggregator/sql/parts/staged_owner_values.sql
GROUP BY dimension
