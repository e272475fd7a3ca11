-- @condition@: code = {code:String}
SELECT l, c, toValidUTF8(v.1), v.2, toValidUTF8(v.3), v.4, g, toUnixTimestamp64Milli(t),
    toUnixTimestamp64Milli(v.5), v.6, v.7, v.8
FROM (
    SELECT link_id AS l, code AS c,
        argMax((url, state, owner, ttl_class, expires_at, account, space, max_visits),
            version) AS v,
        max(generation) AS g, min(created_at) AS t
    FROM links
    WHERE @condition@
    GROUP BY c, l
    ORDER BY l DESC
    LIMIT 1)
SETTINGS optimize_use_projections = 0
FORMAT TabSeparated
