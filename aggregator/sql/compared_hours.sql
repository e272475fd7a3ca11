SELECT toUInt32(toStartOfDay(hour)) AS d, sum(events) AS n
-- include: aggregator/sql/parts/published_totals_by_day.sql
