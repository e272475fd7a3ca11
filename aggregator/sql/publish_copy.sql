-- @kind@: sealed_day
-- @settled@: (SELECT sum(effective + ineffective) FROM link_slots)
-- @staged@: (SELECT sum(events) FROM sealed_slots WHERE attempt = {attempt:UInt64})
-- @same_rows@: AND (SELECT count() FROM clicks WHERE link_id != 0) = {rows:UInt64}
INSERT INTO settled (kind, unit, attempt, blocks, rows, read_until, complete_until,
    settled_at, settler)
SELECT '@kind@', toDateTime({start:UInt32}, 'UTC'), {attempt:UInt64}, 0, {rows:UInt64},
    fromUnixTimestamp64Milli({read_until:Int64}, 'UTC'),
    fromUnixTimestamp64Milli({complete_until:Int64}, 'UTC'), now64(3, 'UTC'),
    {settler:String}
WHERE @staged@ = {rows:UInt64}
  AND @settled@ = {rows:UInt64}
  @same_rows@
  AND
  -- include: aggregator/sql/expressions/newest_published.sql
  < {attempt:UInt64}
  AND now64(3, 'UTC') < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
