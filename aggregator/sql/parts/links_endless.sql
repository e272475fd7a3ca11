-- @where@: 1
-- @side@: <
-- @direction@: DESC
SELECT toUInt64(0) AS n_place, link_id, '' AS a_code
FROM links
WHERE @where@
  AND expires_at = fromUnixTimestamp64Milli(0, 'UTC')
  AND link_id @side@ {after_id:UInt64}
ORDER BY link_id @direction@
LIMIT {candidates:UInt64}
