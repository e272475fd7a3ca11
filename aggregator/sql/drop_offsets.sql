INSERT INTO dropped_sources (day, attempt, epoch, topic, partition, last)
SELECT toDate(toDateTime({start:UInt32}, 'UTC')), {attempt:UInt64}, e, t, p, max(l)
FROM (
    SELECT epoch AS e, topic AS t, partition AS p, last AS l
    FROM ingest_progress
    ARRAY JOIN mapKeys(hours) AS h
    WHERE h >= {start:UInt32} AND h < {end:UInt32}
    UNION ALL
    SELECT epoch AS e, topic AS t, partition AS p, last AS l
    FROM dropped_sources
    WHERE attempt = {dropped:UInt64} AND day = toDate(toDateTime({start:UInt32}, 'UTC')))
GROUP BY e, t, p
