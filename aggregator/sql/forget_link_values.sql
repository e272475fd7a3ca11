-- @table@: link_values
-- @partition@: 202611
-- @day@: 1792800000
-- @is_link@: link_id IN (1, 2)
-- @has_visitor@: arrayExists(x -> x = 1, arrayConcat(people, others))
ALTER TABLE @table@
UPDATE value = ''
IN PARTITION ID '@partition@'
WHERE day = toDate(toDateTime(@day@, 'UTC'))
  AND (@is_link@
    OR (events < 10
      AND link_id IN (
            SELECT link_id
            FROM sealed_slots
            WHERE toDate(slot) = toDate(toDateTime(@day@, 'UTC')) AND @has_visitor@)))
