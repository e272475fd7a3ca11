SELECT (
        SELECT sum(effective + ineffective)
        FROM link_slots
        WHERE slot >= toDateTime({start:UInt32}, 'UTC')
          AND slot < toDateTime({end:UInt32}, 'UTC')
          AND attempt = {attempt:UInt64}),
    (
        SELECT sum(pv)
        FROM link_days
        WHERE day = toDate(toDateTime({start:UInt32}, 'UTC')) AND attempt = {attempt:UInt64}),
    (
        SELECT sum(effective + ineffective)
        FROM link_slots
        WHERE slot >= toDateTime({start:UInt32}, 'UTC')
          AND slot < toDateTime({end:UInt32}, 'UTC')
          AND attempt = (
                SELECT max(attempt)
                FROM settled
                WHERE kind = 'link_day' AND unit = toDateTime({start:UInt32}, 'UTC'))),
    (
        SELECT sum(pv)
        FROM link_days
        WHERE day = toDate(toDateTime({start:UInt32}, 'UTC'))
          AND attempt = (
                SELECT max(attempt)
                FROM settled
                WHERE kind = 'link_day' AND unit = toDateTime({start:UInt32}, 'UTC')))
FORMAT TabSeparated
