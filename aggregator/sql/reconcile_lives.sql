SELECT toValidUTF8(any(toString(instance))), boot,
    toUnixTimestamp64Milli(min(boot_time)) AS s,
    toUnixTimestamp64Milli(argMax(counted_until, sequence)),
    toUInt8(argMax(ended, sequence))
FROM redirector_counters
WHERE hour >= toDateTime({before:UInt32}, 'UTC')
  AND hour < toDateTime({after:UInt32}, 'UTC')
GROUP BY boot
ORDER BY s, boot
