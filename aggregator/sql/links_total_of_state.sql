-- @where@: 1
-- @of_links@: AND link_id IN (SELECT link_id FROM links WHERE version > 0)
-- @links@: SELECT link_id AS one_id FROM links
-- @codes_of@: SELECT code FROM links
SELECT count()
FROM (
    SELECT link_id,
        -- include: aggregator/sql/parts/end_of_newest.sql
        AS n_ends,
        -- include: aggregator/sql/parts/state_of_newest.sql
        AS a_state
    FROM (
        SELECT code, link_id, link_id AS one_id, version, state, expires_at
        FROM links
        WHERE @where@
          AND state != 'forgotten'
          AND
          -- include: aggregator/sql/parts/is_newest_version.sql
          ) AS newest
    -- include: aggregator/sql/parts/present_links.sql
    -- include: aggregator/sql/parts/life_of_newest.sql
    WHERE a_state = {state:String}
    LIMIT {candidates:UInt64})
SETTINGS optimize_use_projections = 0
FORMAT TabSeparated
