-- The settled hours of a range whose links were not reported since, nor so shortly before they
-- were settled that the rows may not have been visible then.
SELECT toUInt32(s.hour), max(s.attempt)
FROM settled_creations AS s
LEFT JOIN (
    -- include: aggregator/sql/parts/creations_reported.sql
    ) AS t ON toUInt32(s.hour) = t.h
WHERE s.hour >= toDateTime({from:UInt32}, 'UTC') AND s.hour < toDateTime({to:UInt32}, 'UTC')
  AND s.hour > toDateTime(0, 'UTC')
GROUP BY s.hour
HAVING argMax(toUnixTimestamp64Milli(s.read_at), s.attempt) >= any(t.n_newest) + {overlap:Int64}
ORDER BY s.hour
FORMAT TabSeparated
