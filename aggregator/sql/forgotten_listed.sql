SELECT uniqExactIf(visitor_id, link_id = 0), uniqExactIf(link_id, link_id != 0)
FROM forgotten
FORMAT TabSeparated
