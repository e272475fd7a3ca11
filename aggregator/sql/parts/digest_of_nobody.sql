arrayMap(unique_identity ->
    -- include: aggregator/sql/parts/digest_of_visitor.sql
    , [toFixedString('', 20)])[1]
