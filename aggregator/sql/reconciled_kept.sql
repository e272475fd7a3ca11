SELECT toUInt32(hour), toUnixTimestamp64Milli(reconciled_at),
    -- include: aggregator/sql/parts/reconciled_numbers.sql
    toUInt8(inexact), toUInt8(settling), toUInt8(waits)
FROM reconciled_hours FINAL
WHERE hour >= toDateTime({from:UInt32}, 'UTC') AND hour < toDateTime({to:UInt32}, 'UTC')
