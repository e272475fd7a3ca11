AND (ts >= fromUnixTimestamp64Milli({next_day:Int64}, 'UTC')
    OR (link_id >= {link:UInt64}
      AND (link_id > {link:UInt64} OR ts >= fromUnixTimestamp64Milli({ts:Int64}, 'UTC'))
      AND (link_id > {link:UInt64}
        OR ts > fromUnixTimestamp64Milli({ts:Int64}, 'UTC')
        OR (partition, offset, topic, epoch)
            > ({partition:UInt32}, {offset:UInt64}, {topic:String}, {epoch:UInt32}))))
