-- @table@: sealed_slots
-- @partition@: 202611
-- @hours@: [1792800000]
-- @is_visitor@: x = 1
ALTER TABLE @table@
UPDATE
    people = arraySort(arrayDistinct(arrayMap(x -> if(@is_visitor@ OR @is_link@,
        -- include: aggregator/sql/parts/digest_of_nobody.sql
        , x), people))),
    others = arraySort(arrayDistinct(arrayMap(x -> if(@is_visitor@ OR @is_link@,
        -- include: aggregator/sql/parts/digest_of_nobody.sql
        , x), others))),
    people_ips = arraySort(arrayDistinct(arrayMap(x -> if(@is_link@,
        -- include: aggregator/sql/parts/digest_of_nowhere.sql
        , x), people_ips))),
    others_ips = arraySort(arrayDistinct(arrayMap(x -> if(@is_link@,
        -- include: aggregator/sql/parts/digest_of_nowhere.sql
        , x), others_ips)))
IN PARTITION ID '@partition@'
WHERE toUInt32(toStartOfHour(slot)) IN @hours@
  AND (
    -- include: aggregator/sql/parts/slot_is_forgotten.sql
  )
