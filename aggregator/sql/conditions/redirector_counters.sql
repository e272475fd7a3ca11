hour < toDateTime(toStartOfMonth((
    SELECT max(unit)
    FROM settled
    WHERE kind IN ('dropped_day', 'kept_from'))), 'UTC') - toIntervalDay(2)
AND (hour < (SELECT max(unit) FROM settled WHERE kind = 'kept_from')
    OR toYYYYMMDD(hour) IN (
        SELECT toYYYYMMDD(unit)
        FROM settled
        WHERE kind = 'dropped_day'))
