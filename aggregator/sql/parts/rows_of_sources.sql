SELECT clicks.*
FROM clicks
LEFT JOIN (
    SELECT epoch AS f_epoch, topic AS f_topic, partition AS f_partition,
        max(last) AS f_last, 1 AS f_known
    FROM dropped_sources
    WHERE day = toDate(toDateTime({start:UInt32}, 'UTC')) AND attempt = {dropped:UInt64}
    GROUP BY f_epoch, f_topic, f_partition) AS f
  ON clicks.epoch = f.f_epoch
  AND clicks.topic = f.f_topic
  AND clicks.partition = f.f_partition
WHERE
    -- include: aggregator/sql/parts/is_in_range.sql
