-- @bucket@: roundDown(toUnixTimestamp(t), CAST('[0,3600]', 'Array(Int64)'))
-- @visitors@: include aggregator/sql/parts/merged_visitors_and_ips.sql
-- @dimension@: total
-- @of_buckets@: include aggregator/sql/parts/spans_of_days.sql
-- @total@: include aggregator/sql/parts/spans_of_rows.sql
-- @which@: NOT rest
-- @groups@: include aggregator/sql/parts/answer_values.sql
-- @values@: include aggregator/sql/parts/values_of_days.sql
SELECT 'bucket' AS answer_part, @bucket@ AS bucket, '' AS group_value, '' AS second_value,
    -- include: aggregator/sql/parts/answer_sums.sql
    , @visitors@
FROM (
    @of_buckets@)
GROUP BY bucket
UNION ALL
SELECT 'total' AS answer_part, 0 AS bucket, '' AS group_value, '' AS second_value,
    -- include: aggregator/sql/parts/answer_sums.sql
    , @visitors@
FROM (
    @total@)
@groups@
FORMAT TabSeparated
