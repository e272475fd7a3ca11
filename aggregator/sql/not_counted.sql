SELECT sum(n_dead), sum(n_lost)
FROM (
    SELECT max(dead_lettered) AS n_dead, max(lost) AS n_lost
    FROM ingest_progress
    WHERE inserted_at >= now64(3, 'UTC') - toIntervalDay(1)
      AND dead_lettered + lost > 0
      AND
      -- include: aggregator/sql/parts/is_stream.sql
    GROUP BY epoch, topic, partition, first, last)
FORMAT TabSeparated
