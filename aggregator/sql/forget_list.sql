SELECT link_id, hex(visitor_id), toUnixTimestamp64Milli(max(visits_until)) AS latest
FROM forgotten
GROUP BY link_id, visitor_id
ORDER BY latest, link_id, visitor_id
FORMAT TabSeparated
