INSERT INTO link_days (link_id, day, attempt, pv, uv, ip, human_uv, human_ip, effective,
    ineffective)
SELECT link_id,
    -- include: aggregator/sql/parts/day_at_start.sql
    , {attempt:UInt64}, count() AS n,
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
FROM
    -- include: aggregator/sql/parts/rows_of_links.sql
GROUP BY link_id
