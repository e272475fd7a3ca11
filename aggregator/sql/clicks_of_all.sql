-- @answer_part@: if(grouping(bucket) = 0, 'bucket', 'total')
-- @bucket@: roundDown(toUnixTimestamp(t), CAST('[0,3600]', 'Array(Int64)'))
-- @sets@: GROUP BY GROUPING SETS ((bucket), ())
-- @visitors@: include aggregator/sql/parts/merged_visitors_and_ips.sql
-- @total@: include aggregator/sql/parts/spans_of_hours.sql
-- @dimension@: total
-- @groups@: include aggregator/sql/parts/answer_groups.sql
-- @visitors_of_groups@: include aggregator/sql/parts/merged_visitors.sql
-- @values@: include aggregator/sql/parts/spans_of_hours.sql
-- @which@: NOT rest AND value IN ('a')
SELECT @answer_part@ AS answer_part, @bucket@ AS bucket, '' AS group_value, '' AS second_value,
    -- include: aggregator/sql/parts/answer_sums.sql
    , @visitors@
FROM (
    @total@)
@sets@
@groups@
FORMAT TabSeparated
