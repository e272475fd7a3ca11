arrayMap(ip ->
    -- include: aggregator/sql/parts/digest_of_address.sql
    , [toIPv6('::')])[1]
