SELECT count(), countIf(so_far <= {rows_max:Int64}),
    groupArrayIf(id, so_far <= {rows_max:Int64})
FROM (
    SELECT id, sum(n) OVER (ORDER BY written DESC, id DESC) AS so_far
    FROM (
        SELECT partition_id AS id, sum(rows) AS n, max(modification_time) AS written
        FROM system.parts
        WHERE database = currentDatabase() AND table = 'clicks' AND active AND rows > 0
        GROUP BY partition_id))
