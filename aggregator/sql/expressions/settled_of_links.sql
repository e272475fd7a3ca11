(
    SELECT sum(effective + ineffective)
    FROM link_slots
    WHERE
      -- include: aggregator/sql/parts/slots_in_range.sql
      AND attempt = (
        SELECT max(attempt)
        FROM settled
        WHERE kind = 'link_day' AND unit = toDateTime({start:UInt32}, 'UTC'))
)
