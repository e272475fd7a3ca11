-- @counted@: include aggregator/sql/parts/counted_clicks.sql
SELECT sum(n_one) AS n_place, link_id, '' AS a_code
FROM @counted@
GROUP BY link_id
HAVING n_place > 0
    AND (n_place < {number:UInt64} OR (n_place = {number:UInt64} AND link_id < {after_id:UInt64}))
ORDER BY n_place DESC, link_id DESC
LIMIT {candidates:UInt64}
