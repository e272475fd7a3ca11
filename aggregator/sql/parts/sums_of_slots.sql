sum(events), sum(clicks), sum(bots), sum(prefetches), uniqCombined64MergeState(14)(visitors),
uniqCombined64MergeState(14)(ips), uniqCombined64MergeState(14)(human_visitors),
uniqCombined64MergeState(14)(human_ips), max(emptied)
