-- @newest@: maxIf(attempt, kind = 'sealed_day') AS n_sealed,
-- @based@: maxIf(attempt, kind = 'base_owner') AS n_based,
-- @kinds@: 'sealed_day', 'base_owner',
SELECT intDiv(toUInt32(unit), 86400) * 86400 AS d,
    @newest@
    maxIf(attempt, kind = 'link_day') AS n_day,
    maxIf(attempt, kind = 'hour') AS n_hour,
    if(argMaxIf((blocks, rows), attempt, kind = 'held_day')
            = argMaxIf((blocks, rows), attempt, kind = 'link_day'),
        0,
        maxIf(attempt, kind = 'held_day')) AS n_held,
    @based@
    argMaxIf(rows, attempt, kind = 'link_day') AS n_linked,
    maxIf(attempt, kind = 'dropped_day') AS n_dropped
FROM settled
WHERE kind IN ('hour', 'link_day', 'held_day', @kinds@ 'dropped_day')
GROUP BY d
