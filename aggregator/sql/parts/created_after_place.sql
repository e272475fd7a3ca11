created_at >= fromUnixTimestamp64Milli({number:Int64}, 'UTC')
AND (created_at > fromUnixTimestamp64Milli({number:Int64}, 'UTC')
    OR link_id > {after_id:UInt64})
AND created_at <= fromUnixTimestamp64Milli(
    if({window:Int64} > 0, {window:Int64}, 10413791999999), 'UTC')
