-- @many@: tag
-- @base@: base_link_value
(
    SELECT sum(length(tags))
    FROM
    -- include: aggregator/sql/parts/rows_of_links_beside.sql
) + (
    SELECT sum(events)
    FROM link_values
    WHERE day =
      -- include: aggregator/sql/parts/day_at_start.sql
      AND dimension = '@many@'
      AND attempt =
      -- include: aggregator/sql/expressions/attempt_of_base.sql
)
