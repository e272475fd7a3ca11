INSERT INTO link_slots (link_id, slot, attempt, clicks, bots, prefetches, effective,
    ineffective)
SELECT link_id,
    -- include: aggregator/sql/parts/slot_of_row.sql
    AS quarter, {attempt:UInt64},
    countIf(
        -- include: aggregator/sql/parts/is_click.sql
    ),
    countIf(
        -- include: aggregator/sql/parts/is_bot.sql
    ),
    countIf(
        -- include: aggregator/sql/parts/is_prefetch.sql
    ),
    countIf(
        -- include: aggregator/sql/parts/is_human.sql
    ) AS e, count() - e
FROM
    -- include: aggregator/sql/parts/rows_of_links.sql
GROUP BY link_id, quarter
