INSERT INTO settled (kind, unit, attempt, blocks, rows, read_until, complete_until,
    settled_at, settler)
SELECT 'link_day', toDateTime({start:UInt32}, 'UTC'), {attempt:UInt64}, {blocks:UInt64},
    {rows:UInt64}, fromUnixTimestamp64Milli({read_until:Int64}, 'UTC'),
    fromUnixTimestamp64Milli({complete_until:Int64}, 'UTC'), now64(3, 'UTC'),
    {settler:String}
WHERE (
        SELECT sum(effective + ineffective)
        FROM link_slots
        WHERE slot >= toDateTime({start:UInt32}, 'UTC')
          AND slot < toDateTime({end:UInt32}, 'UTC')
          AND attempt = {attempt:UInt64}) = {slots:UInt64}
  AND (
        SELECT sum(pv)
        FROM link_days
        WHERE day = toDate(toDateTime({start:UInt32}, 'UTC'))
          AND attempt = {attempt:UInt64}) = {visits:UInt64}
  AND toDateTime({start:UInt32}, 'UTC') NOT IN (
        SELECT unit
        FROM settled
        WHERE kind = 'dropped_day'
        GROUP BY unit
        HAVING max(attempt) != {dropped:UInt64})
  AND now64(3, 'UTC') < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
