-- @bases@: UNION ALL SELECT 'base_sealed', toDateTime(1, 'UTC'), toUInt64(1), toUInt64(0)
-- @day_attempts@: (SELECT 1 AS d, 1 AS n_sealed, 1 AS n_owner, 0 AS n_dropped)
-- @is_copied@: n_sealed > 0 AND n_owner > 0
-- @are_counted@: AND n_sealed = {sealed:UInt64} AND n_owner = {owner:UInt64}
INSERT INTO settled (kind, unit, attempt, blocks, rows, read_until, complete_until,
    settled_at, settler)
SELECT k, u, a, 0, m, fromUnixTimestamp64Milli({read_until:Int64}, 'UTC'),
    fromUnixTimestamp64Milli({complete_until:Int64}, 'UTC'), now64(3, 'UTC'),
    {settler:String}
FROM (
    SELECT 'dropped_day' AS k, toDateTime({start:UInt32}, 'UTC') AS u, {attempt:UInt64} AS a,
        {events:UInt64} AS m
    UNION ALL
    SELECT 'base_hour' AS k, unit AS u, max(attempt) AS a, toUInt64(0) AS m
    FROM settled
    WHERE kind = 'hour'
      AND unit >= toDateTime({start:UInt32}, 'UTC')
      AND unit < toDateTime({end:UInt32}, 'UTC')
    GROUP BY unit
    @bases@)
WHERE (
        SELECT count()
        FROM (
            -- include: aggregator/sql/parts/rows_beside.sql
        )) + (
        SELECT sum(events)
        FROM stats_hourly
        WHERE dimension = 'total'
          -- include: aggregator/sql/parts/in_base_hours.sql
          ) = {events:UInt64}
  AND (
        SELECT sum(events)
        FROM stats_hourly
        WHERE dimension = 'total'
          -- include: aggregator/sql/parts/in_settled_hours.sql
          ) = {events:UInt64}
  AND (
        SELECT count()
        FROM (
            SELECT clicks.*
            FROM clicks
            LEFT JOIN (
                SELECT epoch AS f_epoch, topic AS f_topic, partition AS f_partition,
                    max(last) AS f_last, 1 AS f_known
                FROM dropped_sources
                WHERE day = toDate(toDateTime({start:UInt32}, 'UTC'))
                  AND attempt = {attempt:UInt64}
                GROUP BY f_epoch, f_topic, f_partition) AS f
              ON clicks.epoch = f.f_epoch
              AND clicks.topic = f.f_topic
              AND clicks.partition = f.f_partition
            WHERE ts >= toDateTime64({start:UInt32}, 3, 'UTC')
              AND ts < toDateTime64({end:UInt32}, 3, 'UTC')
              AND (f_known = 0 OR clicks.offset > f_last))) = 0
  AND (
        SELECT count()
        FROM @day_attempts@
        WHERE d = {start:UInt32}
          AND @is_copied@
          AND n_sealed > n_dropped
          AND n_sealed < {attempt:UInt64}
          @are_counted@
          AND n_dropped = {dropped:UInt64}) = 1
  AND (
        SELECT count()
        FROM rescored
        WHERE day = toDate(toDateTime({start:UInt32}, 'UTC'))) = {rescored:UInt64}
  AND now64(3, 'UTC') < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
