toUnixTimestamp64Milli(argMax(read_until, attempt)),
    toUnixTimestamp64Milli(tupleElement(max((mended, complete_until)), 2)), max(attempt),
    max(mended)
