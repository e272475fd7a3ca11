SELECT count()
FROM created_links FINAL
WHERE slot >= toDateTime({start:UInt32}, 'UTC')
  AND slot < toDateTime({start:UInt32} + 3600, 'UTC')
FORMAT TabSeparated
