SELECT h, sum(n - n_imported), sum(n_imported),
    sumIf(n - n_imported,
        (h, told_by) NOT IN (
            SELECT toUInt32(hour), toString(edge)
            FROM redirector_counters
            WHERE hour >= toDateTime({from:UInt32}, 'UTC')
              AND hour < toDateTime({to:UInt32}, 'UTC'))),
    sum(n_maybe), sum(n_late), sum(n_removed)
FROM (
    SELECT toUInt32(intDiv(toUnixTimestamp(ts), 3600) * 3600) AS h,
        toString(edge) AS told_by, count() AS n,
        countIf(startsWith(topic, 'import:')) AS n_imported, countIf(maybe_sent) AS n_maybe,
        countIf(outcome = 'repeated') AS n_removed,
        countIf(toUnixTimestamp64Milli(append_time) - toUnixTimestamp64Milli(ts) > {delay:Int64}
            AND NOT startsWith(topic, 'import:')) AS n_late
    FROM clicks
    WHERE ts >= toDateTime64({from:UInt32}, 3, 'UTC')
      AND ts < toDateTime64({to:UInt32}, 3, 'UTC')
    GROUP BY h, told_by)
GROUP BY h
