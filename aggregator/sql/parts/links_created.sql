SELECT toUInt64(greatest(0, toUnixTimestamp64Milli(created_at))) AS n_place, link_id,
    code AS a_code
FROM links
WHERE @where@
  AND created_at <= fromUnixTimestamp64Milli({number:Int64}, 'UTC')
  AND (created_at < fromUnixTimestamp64Milli({number:Int64}, 'UTC')
        OR link_id < {after_id:UInt64})
  AND created_at >= fromUnixTimestamp64Milli({oldest:Int64}, 'UTC')
ORDER BY created_at DESC, link_id DESC
LIMIT {candidates:UInt64}
