-- Hours that are over and whose links were reported after the hour was settled, or so shortly
-- before that the rows may not have been visible then: these are settled once more.
SELECT t.h, d.n_attempt, d.n_links
FROM (
    -- include: aggregator/sql/parts/creations_reported.sql
    HAVING h + 3660 <= intDiv({now:Int64}, 1000)) AS t
LEFT JOIN (
    SELECT toUInt32(hour) AS d_hour, max(attempt) AS n_attempt,
        argMax(links, attempt) AS n_links,
        argMax(toUnixTimestamp64Milli(read_at), attempt) AS n_read
    FROM settled_creations
    GROUP BY hour) AS d ON t.h = d.d_hour
WHERE d.n_attempt = 0 OR d.n_read < t.n_newest
   OR (d.n_read < t.n_newest + {overlap:Int64} AND {now:Int64} >= t.n_newest + {overlap:Int64})
ORDER BY t.h
LIMIT {limit:UInt64}
FORMAT TabSeparated
