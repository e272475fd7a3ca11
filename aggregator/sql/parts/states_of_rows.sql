-- @condition@: include aggregator/sql/parts/is_human.sql
, uniqCombinedStateIf(14)(
    -- include: aggregator/sql/parts/hash_of_visitor.sql
    , @condition@) AS vi,
    uniqCombinedStateIf(14)(
    -- include: aggregator/sql/parts/hash_of_address.sql
    , @condition@) AS ad
