SELECT toUInt32(max(unit))
FROM settled
WHERE kind = 'kept_from'
FORMAT TabSeparated
