SELECT count(), countIf(rows_before < {rows_max:Int64}),
    groupArrayIf(id, rows_before >= {rows_max:Int64})
FROM (
    SELECT id,
        toInt64(sum(n) OVER (ORDER BY written DESC, id DESC)) - toInt64(n) AS rows_before
    FROM (
        SELECT substring(partition_id, 1, {digits:UInt8}) AS id, sum(rows) AS n,
            max(modification_time) AS written
        FROM system.parts
        WHERE database = currentDatabase()
          AND table = {of:String}
          AND active
          AND rows > 0
        GROUP BY id))
