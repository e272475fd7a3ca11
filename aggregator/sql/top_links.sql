-- @left@: n_clicks - n_bots - n_prefetches
-- @rank@: m_left - m_before
-- @counted@: include aggregator/sql/parts/links_of_rows.sql
SELECT link, sumIf(n_events, is_now), sumIf(n_clicks, is_now), sumIf(n_bots, is_now),
    sumIf(n_prefetches, is_now), NULL, NULL, sumIf(@left@, NOT is_now) AS m_before,
    sumIf(@left@, is_now) AS m_left
FROM (
    @counted@)
GROUP BY link
HAVING @rank@ > 0
ORDER BY @rank@ DESC, link
LIMIT {limit:UInt64}
FORMAT TabSeparated
