-- @scope@: link_id = {link_id:UInt64} AND
-- @earliest@: 0
AND (outcome = 'repeated'
    OR (epoch, topic, partition, offset) NOT IN (
        SELECT epoch, topic, partition, offset
        FROM (
            SELECT link_id, ts, epoch, topic, partition, offset,
                row_number() OVER (PARTITION BY event_id
                    ORDER BY append_time, maybe_sent, epoch, topic, partition, offset) AS place
            FROM clicks
            WHERE toDateTime(intDiv(toUnixTimestamp(ts), 86400) * 86400, 'UTC') NOT IN (
                    SELECT unit
                    FROM settled
                    WHERE kind = 'dropped_day')
              AND outcome != 'repeated'
              AND ((link_id, ts) IN (
                        SELECT link_id, arrayJoin([ts, original_ts])
                        FROM clicks
                        WHERE maybe_sent
                          AND outcome != 'repeated'
                          AND @scope@ ts >= toDateTime64({from:UInt32}, 3, 'UTC')
                          AND ts < toDateTime64({to:UInt32}, 3, 'UTC'))
                    OR (ts >= toDateTime64(@earliest@, 3, 'UTC')
                        AND original_ts != ts
                        AND link_id IN (
                            SELECT link_id
                            FROM clicks
                            WHERE maybe_sent
                              AND outcome != 'repeated'
                              AND @scope@ ts >= toDateTime64({from:UInt32}, 3, 'UTC')
                              AND ts < toDateTime64({to:UInt32}, 3, 'UTC')
                              AND original_ts != ts)))
              AND event_id IN (
                    SELECT event_id
                    FROM clicks
                    WHERE maybe_sent
                      AND outcome != 'repeated'
                      AND @scope@ ts >= toDateTime64({from:UInt32}, 3, 'UTC')
                      AND ts < toDateTime64({to:UInt32}, 3, 'UTC')))
        WHERE place > 1))
