-- include: aggregator/sql/parts/into_link_days.sql
SELECT link_id, account, owner,
    if(link_id IN (
        -- include: aggregator/sql/parts/links_passed_on.sql
    ), 'holder', 'sole'),
    -- include: aggregator/sql/parts/day_at_start.sql
    , {attempt:UInt64},
    -- include: aggregator/sql/parts/day_counts_of_rows.sql
    , countIf(
        -- include: aggregator/sql/parts/is_bot.sql
    ), countIf(
        -- include: aggregator/sql/parts/is_prefetch.sql
    )
FROM
    -- include: aggregator/sql/parts/rows_of_links.sql
GROUP BY link_id, account, owner
UNION ALL
SELECT link_id, account, '', if(grouping(account) = 0, 'account', 'whole'),
    -- include: aggregator/sql/parts/day_at_start.sql
    , {attempt:UInt64},
    -- include: aggregator/sql/parts/day_counts_of_rows.sql
    , countIf(
        -- include: aggregator/sql/parts/is_bot.sql
    ), countIf(
        -- include: aggregator/sql/parts/is_prefetch.sql
    )
FROM
    -- include: aggregator/sql/parts/rows_of_links.sql
  AND link_id IN (
    -- include: aggregator/sql/parts/links_passed_on.sql
  )
GROUP BY GROUPING SETS ((link_id, account), (link_id))
