SELECT toUnixTimestamp64Milli(argMax(read_until, attempt)),
    toUnixTimestamp64Milli(tupleElement(max((mended, complete_until)), 2)), max(attempt),
    max(mended),
    tupleElement(maxMapIf([toUInt32(unit)], [attempt],
        kind = 'hour'
        AND unit >= toStartOfHour(toDateTime({from:UInt32}, 'UTC'))
        AND unit < toDateTime({to:UInt32}, 'UTC')) AS n_hours, 1), tupleElement(n_hours, 2)
FROM settled
FORMAT TabSeparated
