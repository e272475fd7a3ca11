-- @answer_part@: if(grouping(bucket) = 0, 'bucket', 'total')
-- @bucket@: roundDown(toUnixTimestamp(ts), CAST('[0,3600]', 'Array(Int64)'))
-- @sets@: GROUP BY GROUPING SETS ((bucket), ())
-- @uniq@: uniqExactIf
-- @condition@: include aggregator/sql/parts/is_human.sql
-- @rows@: include aggregator/sql/parts/rows_of_question.sql
-- @groups@: include aggregator/sql/parts/groups_of_rows.sql
SELECT @answer_part@ AS answer_part, @bucket@ AS bucket, '' AS group_value, '' AS second_value,
    -- include: aggregator/sql/parts/answer_counts_of_rows.sql
    , @uniq@(unique_identity, @condition@) AS n_visitors, @uniq@(ip, @condition@) AS n_ips
@rows@
@sets@
@groups@
FORMAT TabSeparated
