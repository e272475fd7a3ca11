SELECT l
FROM (
    -- include: aggregator/sql/parts/dropped_slots.sql
)
GROUP BY l
HAVING uniqExact(a, o) > 1
