-- include: aggregator/sql/parts/dropped_days.sql
frontier AS (
    SELECT toUInt32(toDateTime(day, 'UTC')) AS f_day, epoch AS f_epoch, topic AS f_topic,
        partition AS f_partition, max(last) AS f_last, 1 AS f_known
    FROM dropped_sources
    WHERE (toUInt32(toDateTime(day, 'UTC')), attempt) IN (SELECT x_day, x_attempt FROM dropped)
    GROUP BY f_day, f_epoch, f_topic, f_partition),
reported AS (
    SELECT h, sum(times) AS n_blocks,
        sumIf(n_block, f_known = 0 OR first > f_last) AS n_rows,
        toUnixTimestamp64Milli(max(n_time)) AS n_at
    FROM (
        SELECT h, epoch, topic, partition, first, last, count() AS times, max(n) AS n_block,
            max(inserted_at) AS n_time
        FROM ingest_progress
        ARRAY JOIN mapKeys(hours) AS h, mapValues(hours) AS n
        WHERE inserted_at >= fromUnixTimestamp64Milli(
                greatest(
                    least(toInt64((SELECT min(h) FROM touched)) * 1000 - {early:Int64},
                        {low:Int64}),
                    0),
                'UTC')
          AND h IN (SELECT h FROM touched)
        GROUP BY h, epoch, topic, partition, first, last) AS r
    LEFT JOIN frontier AS f
      ON toUInt32(intDiv(r.h, 86400) * 86400) = f.f_day
      AND r.epoch = f.f_epoch
      AND r.topic = f.f_topic
      AND r.partition = f.f_partition
    WHERE f_known = 0 OR last > f_last
    GROUP BY h),
published AS (
    SELECT toUInt32(unit) AS h, argMax(blocks, attempt) AS p_blocks,
        argMax(rows, attempt) AS p_rows, max(attempt) AS n_attempt,
        toUInt8(argMax(provisional, attempt)) AS n_open
    FROM settled
    WHERE kind = 'hour' AND unit >= toDateTime((SELECT min(h) FROM touched), 'UTC')
    GROUP BY h),
done AS (
    SELECT h, if(n_attempt < x_attempt, 0, p_blocks) AS n_blocks,
        if(n_attempt < x_attempt, 0, p_rows) AS n_rows, n_attempt, n_open
    FROM published
    LEFT JOIN dropped ON toUInt32(intDiv(h, 86400) * 86400) = dropped.x_day),
held AS (
    SELECT toUInt32(unit) AS h, argMax(blocks, attempt) AS n_blocks,
        argMax(rows, attempt) AS n_rows, max(attempt) AS n_attempt
    FROM settled
    WHERE kind = 'held_hour'
    GROUP BY h)
