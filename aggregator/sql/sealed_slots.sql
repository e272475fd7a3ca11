INSERT INTO sealed_slots (link_id, account, owner, slot, attempt, events, clicks, bots,
    prefetches, people, others, people_ips, others_ips)
SELECT link_id, account, owner,
    -- include: aggregator/sql/parts/slot_of_row.sql
    AS quarter, {attempt:UInt64}, count(),
    countIf(
        -- include: aggregator/sql/parts/is_click.sql
    ),
    countIf(
        -- include: aggregator/sql/parts/is_bot.sql
    ),
    countIf(
        -- include: aggregator/sql/parts/is_prefetch.sql
    ),
    arraySort(groupUniqArrayIf(
        -- include: aggregator/sql/parts/digest_of_visitor.sql
        ,
        -- include: aggregator/sql/parts/is_human.sql
    )),
    arraySort(groupUniqArrayIf(
        -- include: aggregator/sql/parts/digest_of_visitor.sql
        ,
        -- include: aggregator/sql/parts/is_not_human.sql
    )),
    arraySort(groupUniqArrayIf(
        -- include: aggregator/sql/parts/digest_of_address.sql
        ,
        -- include: aggregator/sql/parts/is_human.sql
    )),
    arraySort(groupUniqArrayIf(
        -- include: aggregator/sql/parts/digest_of_address.sql
        ,
        -- include: aggregator/sql/parts/is_not_human.sql
    ))
FROM
    -- include: aggregator/sql/parts/rows_of_links.sql
GROUP BY link_id, account, owner, quarter
