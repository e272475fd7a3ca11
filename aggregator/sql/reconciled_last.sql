SELECT count(), toUInt32(max(hour))
FROM reconciled_hours
WHERE {until:Int64} = 0 OR toUnixTimestamp(hour) + 3600 <= {until:Int64}
FORMAT TabSeparated
