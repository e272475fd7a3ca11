INSERT INTO settled_creations (hour, attempt, read_at, links, settled_at, settler)
SELECT toDateTime(0, 'UTC'), {attempt:UInt64}, fromUnixTimestamp64Milli({now:Int64}, 'UTC'), 0,
    now64(3, 'UTC'), {settler:String}
