-- @source@: (SELECT count() FROM clicks WHERE link_id != 0)
AND @source@ = {rows:UInt64}
AND
-- include: aggregator/sql/parts/is_not_dropped_since.sql
