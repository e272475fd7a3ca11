-- @settled@: include aggregator/sql/parts/creations_settled.sql
-- @rows@: include aggregator/sql/parts/creations_of_rows.sql
SELECT multiIf(grouping(b) = 0, 'bucket', grouping(v) = 0, 'group', 'total') AS answer_part,
    b AS bucket, toValidUTF8(v) AS group_value, sum(n) AS n_links
FROM (
    SELECT toInt64(0) AS b, '' AS v, toUInt64(0) AS n
    FROM numbers(0)
    @settled@
    @rows@)
GROUP BY GROUPING SETS ((b), (v), ())
ORDER BY answer_part, n_links DESC, group_value
LIMIT {most:UInt64} BY answer_part
FORMAT TabSeparated
