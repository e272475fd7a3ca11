count() AS n,
uniqExactIf(unique_identity,
    -- include: aggregator/sql/parts/is_click.sql
),
uniqExactIf(clicks.ip,
    -- include: aggregator/sql/parts/is_click.sql
),
uniqExactIf(unique_identity,
    -- include: aggregator/sql/parts/is_human.sql
),
uniqExactIf(clicks.ip,
    -- include: aggregator/sql/parts/is_human.sql
),
countIf(
    -- include: aggregator/sql/parts/is_human.sql
) AS e, n - e
