SELECT count(), countIf(link_id != 0),
    -- include: aggregator/sql/expressions/settled_of_hours.sql
    , countIf(outcome = 'repeated')
FROM clicks
WHERE
    -- include: aggregator/sql/parts/is_in_range.sql
FORMAT TabSeparated
