SELECT sum(e), sum(c), sum(b), sum(p), uniqCombined64Array(17)(v), uniqCombined64Array(17)(i),
    toUnixTimestamp(min(s)) * 1000, toUnixTimestamp(max(s)) * 1000,
    (
        SELECT toUnixTimestamp64Milli(min(ts))
        FROM clicks
        WHERE link_id = {link_id:UInt64} AND ts >= toDateTime64({from:UInt32}, 3, 'UTC')
          AND
          -- include: aggregator/sql/parts/is_of_caller.sql
        ),
    (
        SELECT toUnixTimestamp64Milli(max(ts))
        FROM clicks
        WHERE link_id = {link_id:UInt64} AND ts >= toDateTime64({from:UInt32}, 3, 'UTC')
          AND
          -- include: aggregator/sql/parts/is_of_caller.sql
        )
FROM (
    -- include: aggregator/sql/parts/slots_of_link.sql
)
FORMAT TabSeparated
