-- @filters@: AND link_id IN (SELECT link_id FROM links WHERE owner = {owner:String})
SELECT sum(effective) AS n_place, link_id, '' AS a_code
FROM
    -- include: aggregator/sql/parts/counted_link_days.sql
  @filters@
GROUP BY link_id
HAVING n_place > 0
    AND (n_place < {number:UInt64} OR (n_place = {number:UInt64} AND link_id < {after_id:UInt64}))
ORDER BY n_place DESC, link_id DESC
LIMIT {candidates:UInt64}
