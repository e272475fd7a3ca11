-- include: aggregator/sql/parts/hours_in_range.sql
  AND toUInt32(hour) IN {hours:Array(UInt32)}
  AND attempt = {base:UInt64}
