SELECT toUInt32(hour) AS h, sum(events)
FROM stats_hourly
WHERE dimension = 'outcome'
  AND value = 'repeated'
  AND hour >= toDateTime({start:UInt32}, 'UTC')
  AND hour < toDateTime({end:UInt32}, 'UTC')
  AND attempt IN {attempts:Array(UInt64)}
GROUP BY hour
FORMAT TabSeparated
