SELECT (
        SELECT count()
        FROM clicks
        WHERE link_id IN (SELECT link_id FROM forgotten WHERE link_id != 0)
          AND (unique_identity != toFixedString('', 20) OR campaign != ''
                OR notEmpty(tags))),
    (
        SELECT count()
        FROM links
        WHERE link_id IN (SELECT link_id FROM forgotten WHERE link_id != 0)
          AND state != 'forgotten')
FORMAT TabSeparated
