AND
-- include: aggregator/sql/parts/hours_in_range.sql
AND
-- include: aggregator/sql/parts/is_base_hour.sql
