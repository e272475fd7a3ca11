-- @base@: base_owner
(
    SELECT max(attempt)
    FROM settled
    WHERE kind = '@base@' AND unit = toDateTime({start:UInt32}, 'UTC')
)
