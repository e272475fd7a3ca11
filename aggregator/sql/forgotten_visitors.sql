SELECT count()
FROM (
    SELECT unique_identity AS visitor, least(original_ts, append_time) AS came
    FROM clicks
    WHERE has({days:Array(String)}, _partition_id)
      AND unique_identity IN (SELECT visitor_id FROM forgotten WHERE link_id = 0)) AS c
INNER JOIN (
    SELECT visitor_id, max(visits_until) AS until
    FROM forgotten
    WHERE link_id = 0
    GROUP BY visitor_id) AS f ON c.visitor = f.visitor_id
WHERE c.came <= f.until
FORMAT TabSeparated
