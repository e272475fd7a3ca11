SELECT count()
FROM clicks
WHERE link_id = {link_id:UInt64}
  AND ts >= toDateTime64({from:UInt32}, 3, 'UTC')
  AND ts < toDateTime64({to:UInt32}, 3, 'UTC')
  AND
  -- include: aggregator/sql/parts/is_of_caller.sql
FORMAT TabSeparated
