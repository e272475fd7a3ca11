-- @table@: owner_slots
-- @partition@: 202611
-- @hours@: [1792800000]
-- @is_visitor@: x = 1
-- @has_visitor@: arrayExists(x -> x = 1, arrayConcat(people, others))
ALTER TABLE @table@
UPDATE
    people = arraySort(arrayDistinct(arrayMap(x -> if(@is_visitor@,
        -- include: aggregator/sql/parts/owner_digest_of_nobody.sql
        , x), people))),
    others = arraySort(arrayDistinct(arrayMap(x -> if(@is_visitor@,
        -- include: aggregator/sql/parts/owner_digest_of_nobody.sql
        , x), others)))
IN PARTITION ID '@partition@'
WHERE toUInt32(toStartOfHour(slot)) IN @hours@ AND @has_visitor@
