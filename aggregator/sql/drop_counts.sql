SELECT (
        SELECT count()
        FROM (
            -- include: aggregator/sql/parts/rows_beside.sql
        )) + (
        SELECT sum(events)
        FROM stats_hourly
        WHERE dimension = 'total'
          -- include: aggregator/sql/parts/in_base_hours.sql
          ),
    (
        SELECT sum(events)
        FROM stats_hourly
        WHERE dimension = 'total'
          -- include: aggregator/sql/parts/in_settled_hours.sql
          ),
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
