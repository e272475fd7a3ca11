-- @links@: SELECT link_id AS one_id FROM links WHERE code = {code:String}
-- @codes_of@: {code:String}
SELECT n_ends, a_state, n_reclaimed, is_present
FROM (
    SELECT
        -- include: aggregator/sql/parts/end_of_newest.sql
        AS n_ends,
        -- include: aggregator/sql/parts/state_of_newest.sql
        AS a_state, n_reclaimed, link_id = present_id AS is_present
    FROM (
        SELECT code, link_id, link_id AS one_id, version, state, expires_at
        FROM links
        WHERE code = {code:String} AND link_id = {id:UInt64}
        ORDER BY version DESC
        LIMIT 1) AS newest
    -- include: aggregator/sql/parts/present_links.sql
    -- include: aggregator/sql/parts/life_of_newest.sql
    )
SETTINGS optimize_use_projections = 0
FORMAT TabSeparated
