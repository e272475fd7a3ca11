-- @is_bucket@: grouping(bucket) = 0, 'bucket',
-- @bucket@: roundDown(toUnixTimestamp(ts), CAST('[0,3600]', 'Array(Int64)'))
-- @bucket_set@: (bucket),
-- @columns@: toValidUTF8(toString(verdict)) AS value_0,
-- @names@: value_0
-- @each_set@: (value_0)
-- @is_group@: grouping(value_0) = 0
-- @index@: grouping(value_0) = 0, 0,
-- @uniq@: uniqExactIf
-- @condition@: include aggregator/sql/parts/is_human.sql
-- @rows@: include aggregator/sql/parts/rows_of_question.sql
-- @left@: n_clicks - n_bots - n_prefetches
-- @groups@: include aggregator/sql/parts/groups_of_rows.sql
-- @value@: toString(arrayJoin(tags))
-- @second@: ''
-- @values@: group_value
SELECT answer_part, bucket_or_index, group_value, second_value, n_events, n_clicks, n_bots,
    n_prefetches, n_visitors, n_ips
FROM (
    SELECT multiIf(@is_bucket@ @is_group@, 'group', 'total') AS answer_part,
        @bucket@ AS bucket, @columns@ multiIf(@index@ bucket) AS bucket_or_index,
        concat('', @names@) AS group_value, '' AS second_value,
        -- include: aggregator/sql/parts/answer_counts_of_rows.sql
        , @uniq@(unique_identity, @condition@) AS n_visitors, @uniq@(ip, @condition@) AS n_ips
    @rows@
    GROUP BY GROUPING SETS (@bucket_set@ (), @each_set@)
    ORDER BY @left@ DESC, n_events DESC, group_value
    LIMIT {limit:UInt64} BY answer_part, bucket_or_index)
@groups@
FORMAT TabSeparated
