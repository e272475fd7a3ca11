SELECT link_id, toValidUTF8(argMax(owner, version)), argMax(account, version)
FROM links
WHERE
    -- include: aggregator/sql/parts/has_one_of_ids.sql
GROUP BY link_id
SETTINGS preferred_optimize_projection_name = 'by_link'
FORMAT TabSeparated
