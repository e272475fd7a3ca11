-- @scope@: ts >= toDateTime64({from:UInt32}, 3, 'UTC')
-- @earliest@: {earliest:UInt32}
(
    SELECT link_id, ts, epoch, topic, partition, offset,
        row_number() OVER (
            PARTITION BY event_id
            ORDER BY append_time, maybe_sent, epoch, topic, partition, offset) AS place
    FROM clicks
    WHERE
      -- include: aggregator/sql/parts/is_of_kept_day.sql
      AND outcome != 'repeated'
      AND ((link_id, ts) IN (
            SELECT link_id, arrayJoin([ts, original_ts])
            FROM clicks
            WHERE
              -- include: aggregator/sql/parts/is_marked.sql
              AND @scope@)
        OR (ts >= toDateTime64(@earliest@, 3, 'UTC')
            AND original_ts != ts
            AND link_id IN (
                SELECT link_id
                FROM clicks
                WHERE
                  -- include: aggregator/sql/parts/is_marked.sql
                  AND @scope@
                  AND original_ts != ts)))
      AND event_id IN (
            SELECT event_id
            FROM clicks
            WHERE
              -- include: aggregator/sql/parts/is_marked.sql
              AND @scope@))
WHERE place > 1
