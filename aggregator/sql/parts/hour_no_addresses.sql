arrayReduce('uniqCombinedState(14)', CAST([], 'Array(UInt64)')) AS s2,
arrayReduce('uniqCombinedState(14)', CAST([], 'Array(UInt64)')) AS s3
