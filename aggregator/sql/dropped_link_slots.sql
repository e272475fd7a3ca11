INSERT INTO link_slots (link_id, slot, attempt, clicks, bots, prefetches, effective,
    ineffective)
SELECT l, s, {attempt:UInt64}, sum(c) AS nc, sum(b) AS nb, sum(p) AS np, nc - nb - np AS e,
    sum(n) - e
FROM (
    -- include: aggregator/sql/parts/dropped_slots.sql
)
GROUP BY l, s
