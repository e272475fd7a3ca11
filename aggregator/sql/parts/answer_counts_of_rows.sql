count() AS n_events,
countIf(
    -- include: aggregator/sql/parts/is_click.sql
) AS n_clicks,
countIf(
    -- include: aggregator/sql/parts/is_bot.sql
) AS n_bots,
countIf(
    -- include: aggregator/sql/parts/is_prefetch.sql
) AS n_prefetches
