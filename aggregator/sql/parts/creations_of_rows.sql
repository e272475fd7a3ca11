-- @slot_bucket@: roundDown(toUnixTimestamp(slot), CAST('[0,3600]', 'Array(Int64)'))
-- @value@: toString(account)
-- @filters@: AND has(splitByChar('\n', {f0:String}), toString(domain))
-- @spans@: (slot >= 0 AND slot < 3600)
UNION ALL
SELECT toInt64(@slot_bucket@) AS b, @value@ AS v, count() AS n
FROM created_links FINAL
WHERE (@spans@)
  AND
  -- include: aggregator/sql/parts/is_creation_of_caller.sql
  @filters@
GROUP BY b, v
