SELECT toUInt32(hour) AS h, count()
FROM stats_hourly
WHERE rest
  AND hour >= toDateTime({start:UInt32}, 'UTC')
  AND hour < toDateTime({end:UInt32}, 'UTC')
  AND attempt IN {attempts:Array(UInt64)}
GROUP BY hour
FORMAT TabSeparated
