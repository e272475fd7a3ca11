FROM sealed_slots
PREWHERE link_id = {link_id:UInt64}
WHERE slot >= toDateTime({from:UInt32}, 'UTC')
  AND slot < toDateTime({to:UInt32}, 'UTC')
  AND attempt = transform(toUInt32(intDiv(toUnixTimestamp(slot), 86400) * 86400),
        {days:Array(UInt32)}, {attempts:Array(UInt64)}, toUInt64(0))
  AND
  -- include: aggregator/sql/parts/is_of_caller.sql
