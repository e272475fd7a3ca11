SELECT (
        SELECT count()
        FROM (
            SELECT clicks.*
            FROM clicks
            LEFT JOIN (
                SELECT epoch AS f_epoch, topic AS f_topic, partition AS f_partition,
                    max(last) AS f_last, 1 AS f_known
                FROM dropped_sources
                WHERE day = toDate(toDateTime({start:UInt32}, 'UTC'))
                  AND attempt = {dropped:UInt64}
                GROUP BY f_epoch, f_topic, f_partition) AS f
              ON clicks.epoch = f.f_epoch
              AND clicks.topic = f.f_topic
              AND clicks.partition = f.f_partition
            WHERE ts >= toDateTime64({start:UInt32}, 3, 'UTC')
              AND ts < toDateTime64({end:UInt32}, 3, 'UTC')
              AND (f_known = 0 OR clicks.offset > f_last))) + (
        SELECT sum(events)
        FROM stats_hourly
        WHERE dimension = 'total'
          AND hour >= toDateTime({start:UInt32}, 'UTC')
          AND hour < toDateTime({end:UInt32}, 'UTC')
          AND (hour, attempt) IN (
                SELECT unit, max(attempt)
                FROM settled
                WHERE kind = 'base_hour'
                  AND unit >= toDateTime({start:UInt32}, 'UTC')
                  AND unit < toDateTime({end:UInt32}, 'UTC')
                GROUP BY unit)),
    (
        SELECT sum(events)
        FROM stats_hourly
        WHERE dimension = 'total'
          AND hour >= toDateTime({start:UInt32}, 'UTC')
          AND hour < toDateTime({end:UInt32}, 'UTC')
          AND (hour, attempt) IN (
                SELECT unit, max(attempt)
                FROM settled
                WHERE kind = 'hour'
                  AND unit >= toDateTime({start:UInt32}, 'UTC')
                  AND unit < toDateTime({end:UInt32}, 'UTC')
                GROUP BY unit)),
    (SELECT count() FROM rescored WHERE day = toDate(toDateTime({start:UInt32}, 'UTC'))),
    (
        SELECT uniqExact(run)
        FROM rescored
        WHERE day = toDate(toDateTime({start:UInt32}, 'UTC'))
          AND state = 'begun'
          AND run NOT IN (
                SELECT run
                FROM rescored
                WHERE day = toDate(toDateTime({start:UInt32}, 'UTC')) AND state = 'done'))
FORMAT TabSeparated
