-- @value@: toString(arrayJoin(tags))
-- @at@: 0
-- @second@: ''
-- @values@: group_value
-- @left@: n_clicks - n_bots - n_prefetches
UNION ALL
SELECT *
FROM (
    SELECT 'group' AS answer_part, @at@ AS bucket, toValidUTF8(@value@) AS group_value,
        @second@ AS second_value,
        -- include: aggregator/sql/parts/answer_counts_of_rows.sql
        , @uniq@(unique_identity, @condition@) AS n_visitors, @uniq@(ip, @condition@) AS n_ips
    @rows@
    GROUP BY @values@
    ORDER BY @left@ DESC, n_events DESC, group_value, second_value
    LIMIT {limit:UInt64})
