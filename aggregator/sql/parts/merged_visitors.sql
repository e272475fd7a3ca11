if(max(x), NULL, uniqCombinedMerge(14)(vi)) AS n_visitors,
    CAST(NULL AS Nullable(UInt64)) AS n_ips
