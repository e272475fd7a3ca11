SELECT count(), countIf(link_id != 0), sum(length(tags)), sumIf(length(tags), link_id != 0)
FROM clicks
WHERE
    -- include: aggregator/sql/parts/is_in_range.sql
FORMAT TabSeparated
