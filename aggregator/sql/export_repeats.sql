SELECT count()
FROM
    -- include: aggregator/sql/parts/unmarked_repeats.sql
