SELECT toUInt32(toDateTime(min(day), 'UTC')) AS d, toValidUTF8(any(host)), any(rules) != 0,
    max(at) < now64(3, 'UTC') - toIntervalMillisecond({longest:Int64}) AND (
        SELECT count()
        -- include: aggregator/sql/parts/mutations_under_way.sql
          AND (position(command, 'rescore_map_') > 0
                OR position(command, 'unique_identity = ') > 0
                OR position(command, 'import:') > 0)) = 0,
    toValidUTF8(any(import))
FROM rescored
WHERE state = 'begun'
  AND run NOT IN (SELECT run FROM rescored WHERE state = 'done')
  AND toDateTime(day, 'UTC') >= (SELECT max(unit) FROM settled WHERE kind = 'kept_from')
GROUP BY run
ORDER BY d
FORMAT TabSeparated
