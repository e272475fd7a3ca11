-- @of_topic@: AND topic = {topic:String}
SELECT *
FROM (
    SELECT topic, partition, epoch, max(partitions),
        maxIf(toUnixTimestamp64Milli(least(append_time, inserted_at)),
            inserted_at <= now64(3, 'UTC')),
        maxIf(toUnixTimestamp64Milli(inserted_at), inserted_at <= now64(3, 'UTC')),
        maxIf(toUnixTimestamp64Milli(greatest(append_time, inserted_at))
                - toUnixTimestamp64Milli(least(inserted_at, now64(3, 'UTC'))),
            inserted_at > now64(3, 'UTC') - toIntervalMillisecond({ahead:Int64})),
        toUnixTimestamp64Milli(now64(3, 'UTC')), max(link_partitions)
    FROM ingest_progress
    WHERE
      -- include: aggregator/sql/parts/is_stream.sql
      AND inserted_at > least(fromUnixTimestamp64Milli({newest:Int64}, 'UTC'), now64(3, 'UTC'))
            - toIntervalMillisecond({back:Int64})
      @of_topic@
    GROUP BY topic, partition, epoch
    UNION ALL
    SELECT '', 0, 0, 0, 0, 0, 0, toUnixTimestamp64Milli(now64(3, 'UTC')), 0)
ORDER BY ALL
FORMAT TabSeparated
