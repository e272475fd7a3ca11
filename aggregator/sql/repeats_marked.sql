SELECT count()
FROM clicks
WHERE
    -- include: aggregator/sql/parts/is_marked.sql
  AND
    -- include: aggregator/sql/parts/is_in_scope_of_repeats.sql
FORMAT TabSeparated
