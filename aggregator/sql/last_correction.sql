SELECT toUnixTimestamp64Milli(max(inserted_at))
FROM ingest_progress
WHERE inserted_at > fromUnixTimestamp64Milli({since:Int64}, 'UTC')
  AND NOT (
      -- include: aggregator/sql/parts/is_stream.sql
  )
FORMAT TabSeparated
