-- @answer_part@: if(grouping(bucket) = 0, 'bucket', 'total')
-- @bucket@: roundDown(toUnixTimestamp(t), CAST('[0,3600]', 'Array(Int64)'))
-- @sets@: GROUP BY GROUPING SETS ((bucket), ())
-- @visitors@: include aggregator/sql/parts/merged_visitors_and_ips.sql
-- @total@: include aggregator/sql/parts/spans_of_hours.sql
-- @dimension@: total
-- @groups@: include aggregator/sql/parts/answer_values.sql
-- @visitors_of_groups@: include aggregator/sql/parts/merged_visitors.sql
-- @index@: multiIf(dimension = 'country', 0, 1)
-- @dimensions@: 'country'
-- @values@: include aggregator/sql/parts/values_of_hours.sql
-- @which@: NOT rest
-- @few@: AND (dimension != 'country' OR value IN ('a'))
SELECT @answer_part@ AS answer_part, @bucket@ AS bucket, '' AS group_value, '' AS second_value,
    -- include: aggregator/sql/parts/answer_sums.sql
    , @visitors@
FROM (
    @total@)
@sets@
@groups@
FORMAT TabSeparated
