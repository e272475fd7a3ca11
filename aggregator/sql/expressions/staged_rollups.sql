(
    SELECT if(countIf(a != b) > 0, 18446744073709551615, sumIf(a, m = 'total'))
    FROM (
        SELECT m, sum(x) AS a, sum(y) AS b
        FROM (
            SELECT if(span = 3600, 'hours', toString(dimension)) AS m, sum(events) AS x,
                toUInt64(0) AS y
            FROM stats_spans
            WHERE span_start >= toDateTime({start:UInt32}, 'UTC')
              AND span_start < toDateTime({end:UInt32}, 'UTC')
              AND attempt = {attempt:UInt64}
            GROUP BY m
            UNION ALL
            SELECT toString(dimension) AS m, toUInt64(0) AS x, sum(events) AS y
            FROM
            -- include: aggregator/sql/parts/rows_to_roll_up.sql
            GROUP BY m
            UNION ALL
            SELECT 'hours' AS m, toUInt64(0) AS x, sum(events) AS y
            FROM
            -- include: aggregator/sql/parts/rows_to_roll_up.sql
              AND dimension = 'total')
        GROUP BY m)
)
