-- @candidates@: include aggregator/sql/parts/links_clicked.sql
-- @carried@: , n_humans, n_bots, n_prefetches
-- @carried_clicks@: , one.4 AS n_carried
-- @order@: SETTINGS optimize_use_projections = 0
-- @where@: 1
-- @codes@: include aggregator/sql/parts/codes_of_picked.sql
-- @codes_of@: SELECT arrayJoin(picked).3
-- @links@: SELECT arrayJoin(picked).2 AS one_id
-- @times@: include aggregator/sql/parts/picked_created_at.sql
-- @matches@: AND n_humans = 0
-- @clicks@: n_humans, n_humans, n_bots, n_prefetches
-- @direction@: DESC
-- @join_clicks@: include aggregator/sql/parts/clicks_of_picked.sql
WITH (
    SELECT arrayResize(groupArray((n_place, link_id, a_code @carried@)) AS every,
        if({window:Int64} > 0 AND length(every) < {candidates:UInt64}, 0, length(every)))
    FROM (
        @candidates@)
    @order@) AS picked
    @codes@
SELECT 'picked', picked[-1].1, picked[-1].2, length(picked), 0 AS h1, 0 AS h2, 0 AS h3,
    0 AS h4, 0 AS h5, 0 AS h6, '' AS h7, '' AS h8, '' AS h9, '' AS h10, '' AS h11, '' AS h12,
    '' AS h13, '' AS h14, '' AS h15, '' AS h16, '' AS h17, '' AS h18, '' AS h19, '' AS h20,
    '' AS h21, 0 AS h22, 0 AS h23, 0 AS h24, 0 AS h25, 0 AS h26, 0 AS h27, 0 AS h28, 0 AS h29,
    0 AS h30, 0 AS h31
UNION ALL
SELECT *
FROM (
    SELECT 'link', n_place, link_id, 0, (@where@) AND state != 'forgotten' @matches@,
        link_id = present_id, @clicks@,
        -- include: aggregator/sql/parts/fields_of_newest.sql
    FROM (
        SELECT code, link_id, link_id AS one_id, version, space, generation, state,
            ttl_class, created_at, changed_at, expires_at, url, redirect_status, owner,
            campaign, tags, domain, description, account, creator, editor, targets,
            not_before, max_visits, pass_query, pass_path
        FROM links
        WHERE code IN (@codes_of@)
          AND link_id IN (SELECT arrayJoin(picked).2)
          @times@
        ORDER BY version DESC
        LIMIT 1 BY code, link_id
        SETTINGS merge_tree_min_rows_for_concurrent_read = 1024,
            merge_tree_min_bytes_for_concurrent_read = 65536) AS newest
    INNER JOIN (
        SELECT DISTINCT one.1 AS n_place, one.2 AS chosen_id @carried_clicks@
        FROM (SELECT arrayJoin(picked) AS one)) AS chosen
      ON newest.link_id = chosen.chosen_id
    -- include: aggregator/sql/parts/present_links.sql
    @join_clicks@
    -- include: aggregator/sql/parts/life_of_newest.sql
    ORDER BY n_place @direction@, link_id @direction@)
FORMAT TabSeparated
