-- @table@: sampled_clicks
-- @columns@: city = ''
-- @partition@: 202611
-- @hours@: [1792800000]
-- @is_visitor@: x = 1
-- @is_link@: link_id IN (1, 2)
ALTER TABLE @table@
UPDATE visitor_digest = 0, @columns@
IN PARTITION ID '@partition@'
WHERE toUInt32(toStartOfHour(slot)) IN @hours@
  AND visitor_digest != 0
  AND (@is_link@ OR arrayExists(x -> @is_visitor@, [visitor_digest]))
