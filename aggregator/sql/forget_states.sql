-- @table@: stats_hourly
-- @partition@: 20261101
-- @hours@: [1792800000]
-- @has_visitor@: false
ALTER TABLE @table@
UPDATE
    -- include: aggregator/sql/parts/no_states.sql
IN PARTITION ID '@partition@'
WHERE toUInt32(hour) IN @hours@
  AND NOT emptied
  AND @has_visitor@
