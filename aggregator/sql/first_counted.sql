SELECT toUInt32(min(unit))
FROM settled
WHERE kind = 'hour'
FORMAT TabSeparated
