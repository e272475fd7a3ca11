clicks
WHERE link_id != 0
  AND
  -- include: aggregator/sql/parts/is_in_range.sql
