SELECT link_id AS l, account AS a, owner AS o, slot AS s, events AS n, clicks AS c, bots AS b, prefetches AS p,
    people AS hv, others AS ov, people_ips AS hi, others_ips AS oi
-- include: aggregator/sql/parts/base_slots.sql
UNION ALL
SELECT link_id AS l, account AS a, owner AS o,
    -- include: aggregator/sql/parts/slot_of_row.sql
    AS s,
    -- include: aggregator/sql/parts/counts_of_rows.sql
    ,
    groupUniqArrayIf(
        -- include: aggregator/sql/parts/digest_of_visitor.sql
        ,
        -- include: aggregator/sql/parts/is_human.sql
    ) AS hv,
    groupUniqArrayIf(
        -- include: aggregator/sql/parts/digest_of_visitor.sql
        ,
        -- include: aggregator/sql/parts/is_not_human.sql
    ) AS ov,
    groupUniqArrayIf(
        -- include: aggregator/sql/parts/digest_of_address.sql
        ,
        -- include: aggregator/sql/parts/is_human.sql
    ) AS hi,
    groupUniqArrayIf(
        -- include: aggregator/sql/parts/digest_of_address.sql
        ,
        -- include: aggregator/sql/parts/is_not_human.sql
    ) AS oi
FROM (
    -- include: aggregator/sql/parts/rows_beside.sql
)
WHERE link_id != 0
GROUP BY l, a, o, s
