SELECT (
        SELECT count()
        FROM (
            -- include: aggregator/sql/parts/rows_beside.sql
        )) +
    -- include: aggregator/sql/expressions/base_events.sql
    ,
    -- include: aggregator/sql/expressions/settled_of_hours.sql
    ,
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
