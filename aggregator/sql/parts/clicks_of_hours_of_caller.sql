-- @of_hours@: AND link_id IN (SELECT link_id FROM links)
SELECT link_id, toUInt64(1)
FROM clicks
WHERE link_id != 0
  AND ts >= toDateTime64({until:UInt32} * 86400, 3, 'UTC')
  AND ts < toDateTime64({until_hour:UInt32} * 3600, 3, 'UTC')
  AND
  -- include: aggregator/sql/parts/is_human.sql
  AND
  -- include: aggregator/sql/parts/is_of_caller.sql
  @of_hours@
