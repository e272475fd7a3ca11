-- @answer_part@: if(grouping(bucket) = 0, 'bucket', 'total')
-- @bucket@: roundDown(toUnixTimestamp(s), CAST('[0,3600]', 'Array(Int64)'))
-- @sets@: GROUP BY GROUPING SETS ((bucket), ())
-- @uniq@: uniqExactArray
-- @groups@: include aggregator/sql/parts/answer_values.sql
-- @values@: include aggregator/sql/parts/grouped_values_of_link.sql
SELECT @answer_part@ AS answer_part, @bucket@ AS bucket, '' AS group_value, '' AS second_value,
    -- include: aggregator/sql/parts/answer_sums.sql
    , @uniq@(v) AS n_visitors, @uniq@(i) AS n_ips
FROM (
    -- include: aggregator/sql/parts/slots_of_link.sql
)
@sets@
@groups@
FORMAT TabSeparated
