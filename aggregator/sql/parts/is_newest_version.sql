if(link_id IN (SELECT link_id FROM links WHERE version > 1),
    (link_id, version) IN (
        SELECT link_id, max(version)
        FROM links
        WHERE version > 1
        GROUP BY link_id),
    true)
