-- @table@: link_slots
-- @dimension@: ''
-- @events@: effective + ineffective
-- @now@: attempt = {sealed:UInt64}
-- @base@: false
-- @in_day@: slot >= toDateTime({start:UInt32}, 'UTC')
-- @also@: AND attempt = 1
SELECT '@table@' AS t, @dimension@ AS m, sumIf(@events@, @now@) AS x,
    sumIf(@events@, @base@) AS y
FROM @table@
WHERE @in_day@@also@
GROUP BY m
