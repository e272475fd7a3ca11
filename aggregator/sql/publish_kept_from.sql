INSERT INTO settled (kind, unit, attempt, blocks, rows, read_until, complete_until,
    settled_at, settler)
SELECT 'kept_from',
    toDateTime(toStartOfMonth(fromUnixTimestamp64Milli({keep:Int64}, 'UTC')), 'UTC'),
    {attempt:UInt64}, 0, 0, fromUnixTimestamp64Milli({read_until:Int64}, 'UTC'),
    fromUnixTimestamp64Milli({complete_until:Int64}, 'UTC'), now64(3, 'UTC'),
    {settler:String}
WHERE (
        SELECT count()
        FROM system.parts
        WHERE database = currentDatabase()
          AND table = 'clicks'
          AND active
          AND rows > 0
          AND toUInt32OrZero(partition_id) < toYYYYMMDD(
                toDateTime(toStartOfMonth(fromUnixTimestamp64Milli({keep:Int64}, 'UTC')), 'UTC'))) = 0
  AND (
        SELECT count()
        FROM settled
        WHERE kind = 'hour'
          AND unit <
                toDateTime(toStartOfMonth(fromUnixTimestamp64Milli({keep:Int64}, 'UTC')), 'UTC')) > 0
