-- include: aggregator/sql/parts/about_days.sql
WHERE (reported.d_blocks != done.n_blocks
    OR reported.d_rows != done.n_rows
    OR reported.d_attempt > done.n_attempt)
  AND (toInt64(reported.d) + 86400) * 1000 <= {closed:Int64}
  AND (done.n_at <= {since:Int64}
    OR done.n_at > toUnixTimestamp64Milli(now64(3, 'UTC'))
    OR reported.d IN (
        SELECT toUInt32(intDiv(arrayJoin(mapKeys(hours)), 86400) * 86400)
        FROM ingest_progress
        WHERE inserted_at > fromUnixTimestamp64Milli({corrected:Int64}, 'UTC')
          AND NOT (
              -- include: aggregator/sql/parts/is_stream.sql
          )))
  AND ({held:UInt8}
    OR held.n_attempt <= done.n_attempt
    OR reported.d_blocks != held.n_blocks
    OR reported.d_rows != held.n_rows)
ORDER BY reported.d
FORMAT TabSeparated
