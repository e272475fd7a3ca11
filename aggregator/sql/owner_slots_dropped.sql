INSERT INTO owner_slots (account, owner, slot, attempt, events, clicks, bots, prefetches,
    people, others, people_ips, others_ips)
SELECT a, o, s, {attempt:UInt64}, sum(n), sum(c), sum(b), sum(p),
    arraySort(groupUniqArrayArray(s0)), arraySort(groupUniqArrayArray(s1)),
    arraySort(groupUniqArrayArray(s2)), arraySort(groupUniqArrayArray(s3))
FROM (
    SELECT account AS a, owner AS o,
        -- include: aggregator/sql/parts/slot_of_row.sql
        AS s,
        -- include: aggregator/sql/parts/counts_of_rows.sql
        ,
        -- include: aggregator/sql/parts/owner_sets.sql
    FROM
        -- include: aggregator/sql/parts/rows_of_links_beside.sql
    GROUP BY a, o, s
    UNION ALL
    SELECT account AS a, owner AS o, slot AS s, events AS n, clicks AS c, bots AS b, prefetches AS p,
        people AS s0, others AS s1, people_ips AS s2, others_ips AS s3
    FROM owner_slots
    WHERE
      -- include: aggregator/sql/parts/slots_in_range.sql
      AND attempt =
      -- include: aggregator/sql/expressions/attempt_of_base.sql
)
GROUP BY a, o, s
