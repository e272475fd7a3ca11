emptied = true,
    visitors = arrayReduce('uniqCombined64State(14)', CAST([], 'Array(FixedString(20))')),
    human_visitors = arrayReduce('uniqCombined64State(14)', CAST([], 'Array(FixedString(20))')),
    ips = arrayReduce('uniqCombined64State(14)', CAST([], 'Array(IPv6)')),
    human_ips = arrayReduce('uniqCombined64State(14)', CAST([], 'Array(IPv6)'))
