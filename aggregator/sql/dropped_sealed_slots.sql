INSERT INTO sealed_slots (link_id, account, owner, slot, attempt, events, clicks, bots,
    prefetches, people, others, people_ips, others_ips)
SELECT l, a, o, s, {attempt:UInt64}, sum(n), sum(c), sum(b), sum(p),
    arraySort(groupUniqArrayArray(hv)), arraySort(groupUniqArrayArray(ov)),
    arraySort(groupUniqArrayArray(hi)), arraySort(groupUniqArrayArray(oi))
FROM (
    -- include: aggregator/sql/parts/dropped_slots.sql
)
GROUP BY l, a, o, s
