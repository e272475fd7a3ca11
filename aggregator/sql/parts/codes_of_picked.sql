, (
    SELECT groupArray(code)
    FROM links
    WHERE link_id IN (SELECT arrayJoin(picked).2)
    SETTINGS preferred_optimize_projection_name = 'by_link') AS codes
