SELECT link_id, toValidUTF8(any(code)), toValidUTF8(argMax(url, version)),
    toValidUTF8(argMax(owner, version)), argMax(account, version), argMax(state, version)
FROM links
WHERE
    -- include: aggregator/sql/parts/has_one_of_ids.sql
GROUP BY link_id
SETTINGS preferred_optimize_projection_name = 'by_link'
FORMAT TabSeparated
