created_at <= fromUnixTimestamp64Milli({number:Int64}, 'UTC')
AND (created_at < fromUnixTimestamp64Milli({number:Int64}, 'UTC')
    OR link_id < {after_id:UInt64})
AND created_at >= fromUnixTimestamp64Milli({window:Int64}, 'UTC')
