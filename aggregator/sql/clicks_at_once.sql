-- @is_bucket@: grouping(bucket) = 0, 'bucket',
-- @bucket@: roundDown(toUnixTimestamp(ts), CAST('[0,3600]', 'Array(Int64)'))
-- @bucket_set@: (bucket),
-- @value@: toString(verdict)
-- @second@: ''
-- @values@: group_value
-- @uniq@: uniqExactIf
-- @condition@: include aggregator/sql/parts/is_human.sql
-- @rows@: include aggregator/sql/parts/rows_of_question.sql
-- @left@: n_clicks - n_bots - n_prefetches
SELECT *
FROM (
    SELECT multiIf(grouping(group_value) = 0, 'group', @is_bucket@ 'total') AS answer_part,
        @bucket@ AS bucket, toValidUTF8(@value@) AS group_value, @second@ AS second_value,
        -- include: aggregator/sql/parts/answer_counts_of_rows.sql
        , @uniq@(unique_identity, @condition@) AS n_visitors, @uniq@(ip, @condition@) AS n_ips
    @rows@
    GROUP BY GROUPING SETS (@bucket_set@ (), (@values@)))
ORDER BY @left@ DESC, n_events DESC, group_value, second_value
LIMIT {limit:UInt64} BY if(answer_part = 'group', '', concat(answer_part, toString(bucket)))
FORMAT TabSeparated
