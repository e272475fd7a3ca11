-- include: aggregator/sql/parts/into_link_days.sql
SELECT l, a, o,
    if(l IN (
        -- include: aggregator/sql/parts/dropped_links_passed_on.sql
    ), 'holder', 'sole'),
    -- include: aggregator/sql/parts/day_at_start.sql
    , {attempt:UInt64},
    -- include: aggregator/sql/parts/day_counts_of_slots.sql
    , sum(b), sum(p)
FROM (
    -- include: aggregator/sql/parts/dropped_slots.sql
)
GROUP BY l, a, o
UNION ALL
SELECT l, a, '', if(grouping(a) = 0, 'account', 'whole'),
    -- include: aggregator/sql/parts/day_at_start.sql
    , {attempt:UInt64},
    -- include: aggregator/sql/parts/day_counts_of_slots.sql
    , sum(b), sum(p)
FROM (
    -- include: aggregator/sql/parts/dropped_slots.sql
)
WHERE l IN (
    -- include: aggregator/sql/parts/dropped_links_passed_on.sql
)
GROUP BY GROUPING SETS ((l, a), (l))
