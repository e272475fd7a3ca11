-- @visitors_of_groups@: include aggregator/sql/parts/no_visitors.sql
-- @left@: n_clicks - n_bots - n_prefetches
UNION ALL
SELECT *
FROM (
    SELECT if(r, 'left_out', 'group') AS answer_part, d AS bucket, toValidUTF8(v) AS group_value,
        '' AS second_value,
        -- include: aggregator/sql/parts/answer_sums.sql
        , @visitors_of_groups@
    FROM (
        @values@)
    GROUP BY answer_part, bucket, group_value
    ORDER BY @left@ DESC, n_events DESC, group_value
    LIMIT {limit:UInt64} BY answer_part, bucket)
