-- @links@: SELECT link_id AS one_id FROM links WHERE code = {code:String}
-- @codes_of@: {code:String}
-- All links that ever had a code, the newest first, in the columns of links_page.sql.
SELECT 'link', 0, link_id, 0, 1, link_id = present_id, 0, 0, 0, 0,
    -- include: aggregator/sql/parts/fields_of_newest.sql
FROM (
    SELECT code, link_id, link_id AS one_id, version, space, generation, state, ttl_class,
        created_at, changed_at, expires_at, url, redirect_status, owner, campaign, tags,
        domain, description, account, creator, editor, targets, not_before, max_visits,
        pass_query, pass_path
    FROM links
    WHERE code = {code:String}
    ORDER BY version DESC
    LIMIT 1 BY code, link_id) AS newest
-- include: aggregator/sql/parts/present_links.sql
-- include: aggregator/sql/parts/life_of_newest.sql
WHERE state != 'forgotten'
ORDER BY link_id DESC
SETTINGS optimize_use_projections = 0
FORMAT TabSeparated
