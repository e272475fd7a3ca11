SELECT topic, maxIf(toUnixTimestamp64Milli(inserted_at), inserted_at <= now64(3, 'UTC'))
FROM ingest_progress
WHERE
  -- include: aggregator/sql/parts/is_stream.sql
  AND inserted_at > fromUnixTimestamp64Milli({from:Int64}, 'UTC')
  AND inserted_at <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  AND topic NOT IN {known:Array(String)}
GROUP BY topic
FORMAT TabSeparated
