INSERT INTO settled (kind, unit, attempt, blocks, rows, read_until, complete_until,
    settled_at, settler)
SELECT 'link_day', toDateTime({start:UInt32}, 'UTC'), {attempt:UInt64}, {blocks:UInt64},
    {rows:UInt64}, fromUnixTimestamp64Milli({read_until:Int64}, 'UTC'),
    fromUnixTimestamp64Milli({complete_until:Int64}, 'UTC'), now64(3, 'UTC'),
    {settler:String}
WHERE (
        SELECT sum(effective + ineffective)
        FROM link_slots
        WHERE
          -- include: aggregator/sql/parts/slots_in_range.sql
          AND attempt = {attempt:UInt64}) = {slots:UInt64}
  AND
  -- include: aggregator/sql/parts/staged_visits.sql
  = {visits:UInt64}
  AND
  -- include: aggregator/sql/parts/is_not_dropped_since.sql
  AND now64(3, 'UTC') < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
