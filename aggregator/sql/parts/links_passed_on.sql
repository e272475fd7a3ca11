SELECT link_id
FROM
    -- include: aggregator/sql/parts/rows_of_links.sql
GROUP BY link_id
HAVING uniqExact(account, owner) > 1
