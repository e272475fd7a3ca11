span_start >= toDateTime({from:UInt32}, 'UTC')
  AND span_start < toDateTime({to:UInt32}, 'UTC')
  AND attempt = transform(toUInt32(toStartOfDay(span_start)), {days:Array(UInt32)},
        {attempts:Array(UInt64)}, toUInt64(0))
