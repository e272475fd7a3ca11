if(max(x), NULL, uniqCombinedMerge(14)(vi)) AS n_visitors,
    if(max(x), NULL, uniqCombinedMerge(14)(ad)) AS n_ips
