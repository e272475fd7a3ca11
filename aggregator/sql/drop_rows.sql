SELECT count(), countIf(link_id != 0), sum(length(tags)), sumIf(length(tags), link_id != 0)
FROM clicks
WHERE ts >= toDateTime64({start:UInt32}, 3, 'UTC')
  AND ts < toDateTime64({end:UInt32}, 3, 'UTC')
FORMAT TabSeparated
