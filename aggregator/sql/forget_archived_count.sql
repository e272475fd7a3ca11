-- @is_link@: link_id IN (1, 2)
SELECT count()
FROM links
WHERE @is_link@ AND state != 'forgotten'
FORMAT TabSeparated
