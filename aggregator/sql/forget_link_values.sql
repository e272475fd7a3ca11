-- @table@: link_values
-- @partition@: 202611
-- @day@: 1792800000
-- @is_link@: link_id IN (1, 2)
ALTER TABLE @table@
UPDATE value = ''
IN PARTITION ID '@partition@'
WHERE day = toDate(toDateTime(@day@, 'UTC')) AND @is_link@
