-- @table@: clicks
-- @month@: 202611
SELECT DISTINCT partition_id
FROM system.parts
WHERE database = currentDatabase()
  AND table = '@table@'
  AND active
  AND toUInt32OrZero(substring(partition_id, 1, 6)) < @month@
FORMAT TabSeparated
