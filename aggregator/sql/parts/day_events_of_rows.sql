count() AS n, toUInt64(0), toUInt64(0), toUInt64(0), toUInt64(0),
countIf(
    -- include: aggregator/sql/parts/is_human.sql
) AS e, n - e
