SELECT count(), countIf(link_id != 0), sum(length(tags)), sumIf(length(tags), link_id != 0)
FROM (
    -- include: aggregator/sql/parts/rows_beside.sql
)
FORMAT TabSeparated
