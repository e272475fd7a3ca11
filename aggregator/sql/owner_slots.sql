INSERT INTO owner_slots (account, owner, slot, attempt, events, clicks, bots, prefetches,
    people, others, people_ips, others_ips)
SELECT account AS a, owner AS o,
    -- include: aggregator/sql/parts/slot_of_row.sql
    AS s, {attempt:UInt64},
    -- include: aggregator/sql/parts/counts_of_rows.sql
    ,
    -- include: aggregator/sql/parts/owner_sets.sql
FROM
    -- include: aggregator/sql/parts/rows_of_links.sql
GROUP BY a, o, s
