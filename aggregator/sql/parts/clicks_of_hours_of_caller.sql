-- @of_hours@: AND link_id IN (SELECT link_id FROM links)
SELECT link_id,
    toUInt64(
        -- include: aggregator/sql/parts/is_human.sql
    ),
    toUInt64(
        -- include: aggregator/sql/parts/is_bot.sql
    ),
    toUInt64(
        -- include: aggregator/sql/parts/is_prefetch.sql
    )
FROM clicks
WHERE link_id != 0
  AND ((ts >= toDateTime64({head_from:UInt32}, 3, 'UTC')
            AND ts < toDateTime64({head_to:UInt32}, 3, 'UTC'))
        OR (ts >= toDateTime64({tail_from:UInt32}, 3, 'UTC')
            AND ts < toDateTime64({tail_to:UInt32}, 3, 'UTC')))
  AND
  -- include: aggregator/sql/parts/is_click.sql
  AND
  -- include: aggregator/sql/parts/is_of_caller.sql
  @of_hours@
