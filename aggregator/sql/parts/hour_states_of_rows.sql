uniqCombinedStateIf(14)(
    -- include: aggregator/sql/parts/hash_of_visitor.sql
    ,
    -- include: aggregator/sql/parts/is_human.sql
) AS s0,
uniqCombinedStateIf(14)(
    -- include: aggregator/sql/parts/hash_of_visitor.sql
    ,
    -- include: aggregator/sql/parts/is_not_human.sql
) AS s1
