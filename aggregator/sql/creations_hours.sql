-- The settled hours of a range whose links were not reported since, nor so shortly before they
-- were settled that the rows may not have been visible then.
SELECT toUInt32(s.hour), max(s.attempt)
FROM settled_creations AS s
LEFT JOIN (
    SELECT arrayJoin(mapKeys(creations)) AS h,
        max(toUnixTimestamp64Milli(inserted_at)) AS n_newest
    FROM ingest_progress
    WHERE notEmpty(creations)
      AND inserted_at >= fromUnixTimestamp64Milli(greatest((
            SELECT max(toUnixTimestamp64Milli(read_at))
            FROM settled_creations
            WHERE hour = toDateTime(0, 'UTC')) - {overlap:Int64}, 0), 'UTC')
    GROUP BY h) AS t ON toUInt32(s.hour) = t.h
WHERE s.hour >= toDateTime({from:UInt32}, 'UTC') AND s.hour < toDateTime({to:UInt32}, 'UTC')
  AND s.hour > toDateTime(0, 'UTC')
GROUP BY s.hour
HAVING argMax(toUnixTimestamp64Milli(s.read_at), s.attempt) >= any(t.n_newest) + {overlap:Int64}
ORDER BY s.hour
FORMAT TabSeparated
