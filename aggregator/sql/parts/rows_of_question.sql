-- @link@: link_id = {link_id:UInt64} AND
-- @owners@: AND link_id != 0
-- @once@: include aggregator/sql/parts/is_counted_once.sql
-- @filters@: AND verdict = 'human'
FROM clicks
WHERE @link@ ts >= toDateTime64({from:UInt32}, 3, 'UTC')
  AND ts < toDateTime64({to:UInt32}, 3, 'UTC')
  @owners@
  @once@
  @filters@
