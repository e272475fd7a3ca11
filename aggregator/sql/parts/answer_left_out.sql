-- @at@: 0
UNION ALL
SELECT 'left_out' AS answer_part, @at@ AS bucket, '' AS group_value, '' AS second_value,
    -- include: aggregator/sql/parts/answer_sums.sql
    ,
    -- include: aggregator/sql/parts/no_visitors.sql
FROM (
    @rest@)
