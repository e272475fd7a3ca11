at < now64(6, 'UTC') - toIntervalDay(2)
AND (what = 'block' AND (identity, epoch, last) IN (
        SELECT b.log, b.batch_epoch, b.batch_last
        FROM (
            SELECT DISTINCT identity AS log, epoch AS batch_epoch, last AS batch_last
            FROM import_journal
            WHERE what = 'block') AS b
        INNER JOIN (
            SELECT substring(topic, length('import:') + 1) AS log, epoch AS done_epoch,
                max(last) AS done, groupUniqArray(last) AS reported
            FROM ingest_progress
            WHERE startsWith(topic, 'import:')
            GROUP BY log, done_epoch) AS r
          ON b.log = r.log AND b.batch_epoch = r.done_epoch
        WHERE b.batch_last <= r.done AND NOT has(r.reported, b.batch_last))
    OR what = 'block' AND (identity, epoch) IN (
        SELECT identity, epoch
        FROM import_journal
        WHERE what = 'undone')
    OR what = 'run' AND (identity, number) IN (
        SELECT a.log, a.run_number
        FROM (
            SELECT DISTINCT identity AS log, number AS run_number
            FROM import_journal
            WHERE what = 'run') AS a
        INNER JOIN (
            SELECT identity AS log, max(number) AS newest
            FROM import_journal
            WHERE what = 'run'
            GROUP BY log) AS n ON a.log = n.log
        WHERE a.run_number < n.newest))
