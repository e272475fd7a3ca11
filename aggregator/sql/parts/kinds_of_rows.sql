countIf(
    -- include: aggregator/sql/parts/is_click.sql
) AS c,
countIf(
    -- include: aggregator/sql/parts/is_bot.sql
) AS b,
countIf(
    -- include: aggregator/sql/parts/is_prefetch.sql
) AS p
