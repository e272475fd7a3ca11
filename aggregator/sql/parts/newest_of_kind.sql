-- @kind@: base_sealed
(
    SELECT max(attempt)
    FROM settled
    WHERE kind = '@kind@' AND unit = toDateTime({start:UInt32}, 'UTC'))
