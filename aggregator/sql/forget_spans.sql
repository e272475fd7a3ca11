-- @table@: stats_spans
-- @partition@: 202611
-- @hours@: [1792800000]
-- @day@: 1792800000
-- @has_visitor@: false
ALTER TABLE @table@
UPDATE
    -- include: aggregator/sql/parts/no_states.sql
IN PARTITION ID '@partition@'
WHERE has(if(span = 3600, CAST(@hours@, 'Array(UInt32)'), [toUInt32(@day@)]),
        toUInt32(span_start))
  AND NOT emptied
  AND @has_visitor@
