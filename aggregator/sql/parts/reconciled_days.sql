SELECT toUInt64(toUInt32(toStartOfDay(h))) AS d, count() AS n_kept, min(k) AS n_first
FROM (
    SELECT hour AS h, argMax(sealed_by, reconciled_at) AS k
    FROM reconciled_hours
    GROUP BY hour)
GROUP BY d
