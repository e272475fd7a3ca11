(hour, attempt) IN (
    SELECT unit, max(attempt)
    FROM settled
    WHERE kind = 'base_hour'
      AND
      -- include: aggregator/sql/parts/units_in_range.sql
    GROUP BY unit)
