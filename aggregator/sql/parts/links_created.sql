-- @where@: 1
-- @beyond@: include aggregator/sql/parts/created_before_place.sql
-- @direction@: DESC
SELECT toUInt64(greatest(0, toUnixTimestamp64Milli(created_at))) AS n_place, link_id,
    code AS a_code
FROM links
WHERE @where@
  AND @beyond@
ORDER BY created_at @direction@, link_id @direction@
LIMIT {candidates:UInt64}
