arrayMap(unique_identity ->
    -- include: aggregator/sql/parts/digest_of_owners_visitor.sql
    , [toFixedString('', 20)])[1]
