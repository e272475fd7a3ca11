uniqCombined64StateIf(14)(unique_identity,
    -- include: aggregator/sql/parts/is_human.sql
) + uniqCombined64StateIf(14)(unique_identity,
    -- include: aggregator/sql/parts/is_not_human.sql
) AS s0,
uniqCombined64StateIf(14)(ip,
    -- include: aggregator/sql/parts/is_human.sql
) + uniqCombined64StateIf(14)(ip,
    -- include: aggregator/sql/parts/is_not_human.sql
) AS s1,
uniqCombined64StateIf(14)(unique_identity,
    -- include: aggregator/sql/parts/is_human.sql
) AS s2,
uniqCombined64StateIf(14)(ip,
    -- include: aggregator/sql/parts/is_human.sql
) AS s3
