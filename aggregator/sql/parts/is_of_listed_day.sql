-- @at@: slot
attempt = transform(toUInt32(toStartOfDay(@at@)), {days:Array(UInt32)}, {attempts:Array(UInt64)},
    toUInt64(0))
