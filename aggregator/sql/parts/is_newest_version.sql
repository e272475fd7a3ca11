-- @of_links@: AND link_id IN (SELECT link_id FROM links)
if(link_id IN (SELECT link_id FROM links WHERE version > 1 @of_links@),
    (link_id, version) IN (
        SELECT link_id, max(version)
        FROM links
        WHERE version > 1 @of_links@
        GROUP BY link_id),
    true)
