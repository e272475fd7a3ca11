SELECT toUnixTimestamp(
        toDateTime(toStartOfMonth(fromUnixTimestamp64Milli({keep:Int64}, 'UTC')), 'UTC')),
    (
        SELECT count()
        FROM system.parts
        WHERE database = currentDatabase()
          AND table = 'clicks'
          AND active
          AND rows > 0
          AND toUInt32OrZero(partition_id) < toYYYYMMDD(
                toDateTime(toStartOfMonth(fromUnixTimestamp64Milli({keep:Int64}, 'UTC')), 'UTC'))),
    (
        SELECT count()
        FROM settled
        WHERE kind = 'hour'
          AND unit <
                toDateTime(toStartOfMonth(fromUnixTimestamp64Milli({keep:Int64}, 'UTC')), 'UTC'))
FORMAT TabSeparated
