ends_at >= fromUnixTimestamp64Milli({number:Int64}, 'UTC')
AND (ends_at > fromUnixTimestamp64Milli({number:Int64}, 'UTC')
    OR link_id > {after_id:UInt64})
