expires_at >= fromUnixTimestamp64Milli({number:Int64}, 'UTC')
AND (expires_at > fromUnixTimestamp64Milli({number:Int64}, 'UTC')
    OR link_id > {after_id:UInt64})
