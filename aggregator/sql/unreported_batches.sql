SELECT count()
FROM (
    SELECT 'import:' || identity AS log, epoch AS b_epoch, first AS b_first, last AS b_last
    FROM import_journal
    WHERE what = 'block'
    GROUP BY log, b_epoch, b_first, b_last
    HAVING min(at) <= fromUnixTimestamp64Milli({listed:Int64}, 'UTC')
      AND max(at) > now64(3, 'UTC') - toIntervalMillisecond({longest:Int64})) AS b
LEFT JOIN (
    SELECT topic AS log, epoch AS r_epoch, max(last) AS r_last, 1 AS r_known
    FROM ingest_progress
    WHERE startsWith(topic, 'import:')
    GROUP BY log, r_epoch) AS r
  ON b.log = r.log AND b.b_epoch = r.r_epoch
WHERE r_known = 0 OR b_last > r_last
FORMAT TabSeparated
