-- @counted@: include aggregator/sql/parts/counted_clicks.sql
-- @selected@: n_human
-- @side@: <
-- @direction@: DESC
SELECT sum(@selected@) AS n_place, link_id, '' AS a_code, sum(n_human) AS n_humans,
    sum(n_bot) AS n_bots, sum(n_prefetch) AS n_prefetches
FROM @counted@
GROUP BY link_id
HAVING n_place > 0 AND
    (n_place @side@ {number:UInt64}
        OR (n_place = {number:UInt64} AND link_id @side@ {after_id:UInt64}))
ORDER BY n_place @direction@, link_id @direction@
LIMIT {candidates:UInt64}
