toYYYYMM(append_time) < toYYYYMM((
    SELECT max(unit)
    FROM settled
    WHERE kind IN ('dropped_day', 'kept_from')))
AND inserted_at < now64(3, 'UTC') - toIntervalDay(2)
AND NOT arrayExists(
    h -> h >= toUInt32((SELECT max(unit) FROM settled WHERE kind = 'kept_from'))
        AND toYYYYMMDD(toDateTime(h, 'UTC')) NOT IN (
            SELECT toYYYYMMDD(unit)
            FROM settled
            WHERE kind = 'dropped_day'),
    mapKeys(hours))
AND (epoch, topic, partition, last) NOT IN (
    SELECT epoch, topic, partition, max(last)
    FROM ingest_progress
    WHERE rows + dead_lettered + lost > 0
    GROUP BY epoch, topic, partition)
AND (topic, partition, toDate(inserted_at)) NOT IN (
    SELECT topic, partition,
        arrayJoin([toDate(max(inserted_at)), toDate(max(inserted_at)) - 1,
            toDate(max(inserted_at)) - 2])
    FROM ingest_progress
    GROUP BY topic, partition)
