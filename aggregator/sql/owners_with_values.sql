SELECT '', uniqExact(account, owner)
FROM
    -- include: aggregator/sql/parts/rows_of_links.sql
UNION ALL
SELECT toString(dimension), uniqExact(account, owner)
FROM
    -- include: aggregator/sql/parts/staged_owner_values.sql
GROUP BY dimension
FORMAT TabSeparated
