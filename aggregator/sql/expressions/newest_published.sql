(
    SELECT max(attempt)
    FROM settled
    WHERE kind IN ('hour', 'link_day')
      AND
      -- include: aggregator/sql/parts/units_in_range.sql
)
