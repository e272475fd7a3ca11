emptied = true,
    people = arrayReduce('uniqCombinedState(14)', CAST([], 'Array(UInt64)')),
    others = arrayReduce('uniqCombinedState(14)', CAST([], 'Array(UInt64)')),
    people_ips = arrayReduce('uniqCombinedState(14)', CAST([], 'Array(UInt64)')),
    others_ips = arrayReduce('uniqCombinedState(14)', CAST([], 'Array(UInt64)'))
