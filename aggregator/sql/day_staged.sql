SELECT (
        SELECT sum(effective + ineffective)
        FROM link_slots
        WHERE
          -- include: aggregator/sql/parts/slots_in_range.sql
          AND attempt = {attempt:UInt64}),
    -- include: aggregator/sql/parts/staged_visits.sql
    ,
    -- include: aggregator/sql/expressions/settled_of_links.sql
    ,
    (
        SELECT sumIf(pv, part IN ('sole', 'whole'))
        FROM link_days
        WHERE day = toDate(toDateTime({start:UInt32}, 'UTC'))
          AND attempt = (
                SELECT max(attempt)
                FROM settled
                WHERE kind = 'link_day' AND unit = toDateTime({start:UInt32}, 'UTC')))
FORMAT TabSeparated
