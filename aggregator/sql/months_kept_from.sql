SELECT toUInt32(max(unit)), toYYYYMM(max(unit))
FROM settled
WHERE kind = 'kept_from'
  AND (attempt < {before:UInt64}
        OR settled_at <= fromUnixTimestamp64Milli({kept:Int64}, 'UTC'))
FORMAT TabSeparated
