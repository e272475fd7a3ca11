uniqCombinedStateIf(14)(
    -- include: aggregator/sql/parts/hash_of_address.sql
    ,
    -- include: aggregator/sql/parts/is_human.sql
) AS s2,
uniqCombinedStateIf(14)(
    -- include: aggregator/sql/parts/hash_of_address.sql
    ,
    -- include: aggregator/sql/parts/is_not_human.sql
) AS s3
