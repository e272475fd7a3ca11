-- @columns@: ip = toIPv6('::'), campaign = if(link_id IN (1, 2), '', campaign)
-- @partition@: 20261101
ALTER TABLE clicks
UPDATE @columns@
IN PARTITION ID '@partition@'
WHERE
  -- include: aggregator/sql/parts/row_is_forgotten.sql
