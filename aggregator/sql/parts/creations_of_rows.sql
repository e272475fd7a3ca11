-- @slot_bucket@: roundDown(toUnixTimestamp(t), CAST('[0,3600]', 'Array(Int64)'))
-- @value@: account
-- @filters@: AND has(splitByChar('\n', {f0:String}), toString(domain))
-- @spans@: (slot >= 0 AND slot < 3600)
UNION ALL
SELECT toInt64(@slot_bucket@) AS b, toString(w) AS v, sum(m) AS n
FROM (
    SELECT slot AS t, @value@ AS w, count() AS m
    FROM created_links FINAL
    WHERE (@spans@)
      AND
      -- include: aggregator/sql/parts/is_creation_of_caller.sql
      @filters@
    GROUP BY t, w)
GROUP BY b, v
