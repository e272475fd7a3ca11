sum(events), sum(clicks), sum(bots), sum(prefetches), uniqCombinedMergeState(14)(people),
uniqCombinedMergeState(14)(others), uniqCombinedMergeState(14)(people_ips),
uniqCombinedMergeState(14)(others_ips), max(emptied)
