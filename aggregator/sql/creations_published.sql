SELECT count()
FROM settled_creations
WHERE hour = toDateTime({start:UInt32}, 'UTC') AND attempt = {attempt:UInt64}
FORMAT TabSeparated
