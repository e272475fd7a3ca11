if(max(x), NULL, uniqCombined64Merge(14)(vi)) AS n_visitors,
    if(max(x), NULL, uniqCombined64Merge(14)(ad)) AS n_ips
