arrayReduce('uniqCombinedState(14)', CAST([], 'Array(UInt64)')) AS s0,
arrayReduce('uniqCombinedState(14)', CAST([], 'Array(UInt64)')) AS s1,
-- include: aggregator/sql/parts/hour_no_addresses.sql
